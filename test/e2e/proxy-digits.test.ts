import { createServer } from 'node:http';
import { expect, it } from 'vitest';
import { listenOnLoopback } from '../support/listen-on-loopback.ts';
import { newDeveloper, startWorld } from '../support/whole-world.ts';

const BODY =
  '{"id":12345678901234567890,"share":1.0,"list":[9007199254740993,{"tiny":1e-7}],"plain":7}';

it('the proxy sends the numbers of a body to the vendor with their exact digits', async () => {
  const seen: string[] = [];
  const vendor = await listenOnLoopback(
    createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        seen.push(Buffer.concat(chunks).toString());
        response.end('done');
      });
    }),
  );
  await using world = await startWorld({ SSRF_ALLOW_LOCALHOST: '1' });
  const developer = await newDeveloper(world.api, 'precise');
  const { key } = await developer.mintKey(await developer.createAgent('precise'));
  const url = `${new URL(vendor.baseUrl).origin}/thing`;
  const post = (path: string, body: string) =>
    fetch(`${world.url}${path}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body,
    });

  const direct = await post('/v1/proxy/fetch', `{"url":"${url}","method":"POST","body":${BODY}}`);
  expect([direct.status, await direct.text()]).toEqual([200, 'done']);
  const args = `{"url":"${url}","method":"POST","body":${BODY}}`;
  const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"call_vendor","arguments":${args}}}`;
  const tooled = await post('/v1/mcp', call);
  expect(await tooled.text()).toContain('done');
  expect(seen).toEqual([BODY, BODY]);
  await vendor[Symbol.asyncDispose]();
});
