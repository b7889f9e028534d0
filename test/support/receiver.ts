import { createHmac } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Received = {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** The bytes as they came. */
  readonly body: string;
  readonly event: Readonly<Record<string, unknown>>;
  readonly atMs: number;
};

/** An endpoint of a developer: it keeps what it gets and answers as a test says, with 200 by default. */
export async function startReceiver() {
  const received: Received[] = [];
  let answer = (_: Received, response: ServerResponse): void => {
    response.writeHead(200).end('ok');
  };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      const { headers, url = '' } = request;
      const one = { path: url, headers, body, event: JSON.parse(body), atMs: Date.now() };
      received.push(one);
      answer(one, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    received,
    /** From here on it answers so. */
    answers(how: typeof answer) {
      answer = how;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export type Receiver = Awaited<ReturnType<typeof startReceiver>>;

/** What the first scheme's header must be, as a receiver computes it from the secret as text. */
export const signatureOf = (secret: string, { body, headers }: Received): string =>
  createHmac('sha256', secret).update(`${headers['x-svc-timestamp']}.${body}`).digest('hex');
