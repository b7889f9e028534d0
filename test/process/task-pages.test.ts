import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { compiled } from '../support/compiled.ts';
import { type ProcessPlace, processPlace } from '../support/process-place.ts';
import { freePort, type ServerProcess, startServerProcess } from '../support/server-process.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

let place: ProcessPlace;
let server: ServerProcess;
beforeAll(async () => {
  place = await processPlace();
  server = await startServerProcess({
    ...place.environment,
    SSRF_ALLOW_LOCALHOST: '1',
    PROVIDER_KEY_SECRET: 'p'.repeat(32),
  });
});
afterAll(async () => {
  expect(await server.stop()).toBe(0);
  await place[Symbol.asyncDispose]();
});

function run(program: string, args: readonly string[], cwd: string, more: Record<string, string>) {
  const { PATH, HOME } = process.env;
  return new Promise<string>((resolve, reject) => {
    execFile(program, args, { cwd, env: { PATH, HOME, ...more } }, (error, out, err) =>
      error === null ? resolve(out) : reject(new Error(`${error.message}\n${out}\n${err}`)),
    );
  });
}

/** The keys of a new agent in an account of its own, as `npm run agent` prints them. */
async function newAgent(name: string) {
  const args = [compiled('src/app/commands/agent.ts')];
  const given = ['--name', name, '--usd', '5', '--server', server.url];
  const out = await run(process.execPath, [...args, ...given], ROOT, place.environment);
  const key = (label: string) => new RegExp(`^${label} (\\S+)$`, 'm').exec(out)?.[1] ?? '';
  return { SERVER: server.url, AGENT_KEY: key('key'), DEVELOPER_KEY: key('developer key') };
}

/** The code of a page: its files by the comment in their first line, and its commands in their order. */
function codeOf(page: string) {
  const text = readFileSync(join(ROOT, 'docs/tasks', page), 'utf8');
  const blocks = [...text.matchAll(/^```(js|sh)\n([\s\S]*?)^```$/gm)];
  const files = blocks.flatMap(([, kind, code = '']) => {
    const name = /^\/\/ (\S+)\n/.exec(code)?.[1];
    return kind === 'js' && name !== undefined ? [{ name, code }] : [];
  });
  const commands = blocks.flatMap(([, kind, code = '']) => (kind === 'sh' ? [code] : [])).join('');
  return { files, commands };
}

/** Runs the page as a reader does, in a folder of its own, and answers what was printed. */
async function follow(page: string, more: Record<string, string> = {}) {
  const agent = await newAgent(page.replace('.md', ''));
  const folder = join(place.directory, page);
  const { files, commands } = codeOf(page);
  mkdirSync(folder);
  for (const { name, code } of files) writeFileSync(join(folder, name), code);
  const out = await run('sh', ['-euc', commands], folder, { ...agent, ...more });
  return { out, agent, files };
}

describe('the pages of tasks', () => {
  it('the task page for webhooks leads to a signed event at the receiver', async () => {
    const { out } = await follow('webhooks.md', { RECEIVER_PORT: String(await freePort()) });
    expect(out).toMatch(/key\.created svc_live_\w+\.\.\.$/m);
    expect(out).toContain('"event":"key.created","statusCode":200,"status":"success"');
  });

  it('the task page for a team budget lets requests of a task through until its cap refuses', async () => {
    const { out } = await follow('team-budget.md');
    expect(out).toMatch(
      /200\n(402\n)+A task team policy "report-7" does not cover this request\.$/m,
    );
    expect(out).toContain('"action":"suspend_agent"');
  });

  it('the task page for a phone agent places a call and reads what was said', async () => {
    const { out } = await follow('phone-agent.md');
    expect(out).toContain('"number":{');
    expect(out).toContain('Your book is ready.');
  });

  it('the task page for browser voice issues a secret, and its script sends and plays audio', async () => {
    const { out, files } = await follow('browser-voice.md', {
      PAGE_PORT: String(await freePort()),
    });
    const { secret, url } = JSON.parse(out) as { secret: string; url: string };
    expect(secret).toMatch(/^ek_/);
    const script = files.find(({ name }) => name === 'voice.js')?.code ?? '';
    const browser = createBrowser({ secret, url });
    new Function(...Object.keys(browser.globals), script)(...Object.values(browser.globals));
    await browser.button.onclick?.();
    browser.capture.port.onmessage?.({ data: new Float32Array(128).fill(0.5) });
    browser.sockets[0]?.send(JSON.stringify({ type: 'response.create' }));
    await expect.poll(() => browser.played, { timeout: 15_000 }).toBeGreaterThan(2_400);
    await expect.poll(() => browser.said.textContent, { timeout: 15_000 }).not.toBe('');
    browser.sockets[0]?.close();
  });
});

/** What the script of the page uses of a browser. */
function createBrowser(answer: { secret: string; url: string }) {
  const button: { onclick?: () => Promise<void> } = {};
  const said = { textContent: '' };
  const sockets: WebSocket[] = [];
  const capture: { port: { onmessage?: (event: { data: Float32Array }) => void } } = { port: {} };
  const browser = { button, capture, played: 0, said, sockets };
  const source = { connect: () => {}, start: () => {}, stop: () => {} };
  class AudioContext {
    readonly currentTime = 0;
    readonly audioWorklet = { addModule: async () => {} };
    createBuffer = (_channels: number, length: number, rate: number) => ({
      duration: length / rate,
      copyToChannel: (samples: Float32Array) => {
        browser.played += samples.length;
      },
    });
    createBufferSource = () => ({ ...source });
    createMediaStreamSource = () => ({ connect: () => {} });
  }
  class Socket extends WebSocket {
    constructor(url: string, protocols: string[]) {
      super(url, protocols);
      sockets.push(this);
    }
  }
  const globals = {
    AudioContext,
    WebSocket: Socket,
    AudioWorkletNode: class {
      readonly port = capture.port;
    },
    document: { querySelector: (name: string) => (name === '#talk' ? button : said) },
    navigator: { mediaDevices: { getUserMedia: async () => ({}) } },
    fetch: async () => ({ json: async () => answer }),
  };
  return Object.assign(browser, { globals });
}
