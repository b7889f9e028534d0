import { execFile, spawnSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compiled } from '../support/compiled.ts';
import { bearer } from '../support/edge.ts';
import { type ProcessPlace, processPlace } from '../support/process-place.ts';
import { RealtimeClient } from '../support/realtime-client.ts';
import { freePort, type ServerProcess, startServerProcess } from '../support/server-process.ts';
import { ask } from '../support/whole-world.ts';

let place: ProcessPlace;
let port: string;
let server: ServerProcess;
beforeAll(async () => {
  place = await processPlace();
  port = String(await freePort());
  server = await startServerProcess({ ...place.environment, PORT: port });
});
afterAll(async () => {
  expect(await server.stop(), server.output()).toBe(0);
  await place[Symbol.asyncDispose]();
});

type Ran = { readonly code: number; readonly out: string; readonly err: string };

/** `npm run agent -- …` as a developer types it. */
const agent = (given: readonly string[], environment: Record<string, string> = {}): Promise<Ran> =>
  run('npm', ['run', '--silent', 'agent', '--', ...given], environment);

/** What that command starts, without npm and the TypeScript loader, which take longer than it does. */
const compiledAgent = (given: readonly string[]): Promise<Ran> =>
  run(process.execPath, [compiled('src/app/commands/agent.ts'), ...given]);

function run(
  program: string,
  given: readonly string[],
  environment: Record<string, string> = {},
): Promise<Ran> {
  const { PATH, HOME } = process.env;
  const env = { PATH, HOME, ...place.environment, PORT: port, ...environment };
  return new Promise((resolve) => {
    execFile(program, given, { env }, (error, out, err) =>
      resolve({ code: error === null ? 0 : Number(error.code), out, err }),
    );
  });
}

/** The words after `curl` as a shell reads them, which is what the line's quotes are for. */
function wordsOf(line: string): string[] {
  const script = `curl() { printf '%s\\n' "$@"; }\n${line}`;
  return spawnSync('sh', ['-c', script], { encoding: 'utf8' }).stdout.trimEnd().split('\n');
}

describe('npm run agent', () => {
  it('npm run agent prints a working key, its balance and a curl line that works', async () => {
    const ran = await agent(['--name', 'first', '--usd', '5']);
    expect(ran.code, ran.err).toBe(0);
    expect(ran.out).toContain('balance 5.000000 USDC');
    const key = /^key (\S+)$/m.exec(ran.out)?.[1] ?? '';
    const balance = await ask(`${server.url}/v1/agents/balance`, {
      headers: { authorization: `Bearer ${key}` },
    });
    expect([balance.status, balance.body.spendableRaw]).toEqual([200, '5000000']);

    const developerKey = /^developer key (\S+)$/m.exec(ran.out)?.[1] ?? '';
    const feed = await ask(`${server.url}/v1/developer/events`, { headers: bearer(developerKey) });
    expect(feed.status).toBe(200);

    const line = ran.out.split('\n').find((text) => text.startsWith('curl ')) ?? '';
    const [url = '', , authorization = '', , type = '', , body = ''] = wordsOf(line);
    const headers = Object.fromEntries([authorization, type].map((text) => text.split(': ')));
    const told = await ask(url, { headers, body });
    expect([told.status, JSON.stringify(told.body)]).toEqual([
      200,
      expect.stringMatching(/balance.*5\.00/i),
    ]);
    expect(ran.out).toMatch(/new OpenAI\(\{ baseURL: '.*\/v1', apiKey: 'svc_/);
    const [, socketUrl = '', protocols = ''] =
      /new WebSocket\('(.*)', \['(.*)'\]\)/.exec(ran.out) ?? [];
    const socket = new RealtimeClient(socketUrl, protocols.split("', '"));
    await socket.until(({ type: event }) => event === 'session.created');
    socket.ws.close();
    await socket.closed;
  });

  it('npm run agent without a server says so in one sentence and exits with 1', async () => {
    const ran = await agent(['--name', 'x', '--usd', '5'], { PORT: String(await freePort()) });
    expect([ran.code, ran.out]).toEqual([1, '']);
    expect(ran.err.trim()).toBe('No server answers; start one with: npm start');
  });

  it('npm run agent with invalid arguments shows its usage and exits with 1', async () => {
    const ran = [{ given: 'no arguments', ...(await agent([])) }];
    for (const given of [
      ['--name', 'x'],
      ['--name', 'x', '--usd', '0'],
      ['--name', 'x', '--usd', '-5'],
      ['--name', 'x', '--usd', '1e3'],
      ['--name', 'x', '--usd', '5', '--what'],
      ['--name', 'x', '--usd', '5', '--url', 'nowhere'],
    ]) {
      ran.push({ given: given.join(' '), ...(await compiledAgent(given)) });
    }
    for (const { code, err, given, out } of ran) {
      expect([code, out], given).toEqual([1, '']);
      expect(err, given).toMatch(/^usage: npm run agent /);
    }
  });

  it('npm run agent shows the server’s refusal and exits with 1', async () => {
    const wrongKey = await agent(['--name', 'x', '--usd', '5'], { ADMIN_API_KEY: 'another-key' });
    expect(wrongKey.code).toBe(1);
    expect(wrongKey.err).toContain('answered 401');
    const oddName = await agent(['--name', 'naïve', '--usd', '5']);
    expect(oddName.code).toBe(1);
    expect(oddName.err).toContain('answered 400');
  });
});
