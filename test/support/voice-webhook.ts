import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { listenOnLoopback } from './listen-on-loopback.ts';

export type AskedWebhook = {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly body: Readonly<Record<string, unknown>>;
  /** The other side has ended the connection before the answer was whole. */
  readonly gone: Promise<void>;
  /** Writes lines of an answer, with the head before the first. */
  say(...lines: readonly object[]): void;
};

/** The backend of a developer who answers calls himself; each request waits for the test to answer it. */
export async function startVoiceWebhook() {
  const asked: AskedWebhook[] = [];
  let wake = () => {};
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    const gone = new Promise<void>((resolve) => {
      response.on('close', () => {
        if (!response.writableFinished) resolve();
      });
    });
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = JSON.parse(Buffer.concat(chunks).toString());
      const say = (...lines: readonly object[]) => {
        if (!response.headersSent) {
          response.writeHead(200, { 'content-type': 'application/x-ndjson' });
        }
        response.write(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
      };
      asked.push({ request, response, body, gone, say });
      wake();
    });
  });
  const { baseUrl, ...listening } = await listenOnLoopback(server);
  return {
    url: `${baseUrl}/hook?secret=s`,
    asked,
    /** The request of this number, once it has come. */
    async next(index = asked.length): Promise<AskedWebhook> {
      while (asked[index] === undefined) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      return asked[index];
    },
    [Symbol.asyncDispose]: () => listening[Symbol.asyncDispose](),
  };
}
