import { Agent, type IncomingHttpHeaders, request } from 'node:http';

export type AskedAnswer = {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
};

type Sent = { readonly method?: string; readonly body?: string };

/** A client at one address of this machine, which keeps its connections as SDKs do. `await using` it. */
export function clientAt(localAddress: string, port: number) {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  return {
    ask: (
      path: string,
      headers: Record<string, string> = {},
      { method = 'GET', body: sent }: Sent = {},
    ): Promise<AskedAnswer> =>
      new Promise((resolve, reject) => {
        const asked = request(
          { host: '127.0.0.1', port, method, path, headers, localAddress, agent },
          (answer) => {
            let body = '';
            answer
              .setEncoding('utf8')
              .on('data', (text) => (body += text))
              .on('error', reject)
              .on('end', () =>
                resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body }),
              );
          },
        );
        asked.on('error', reject).end(sent);
      }),
    async [Symbol.asyncDispose]() {
      agent.destroy();
    },
  };
}
