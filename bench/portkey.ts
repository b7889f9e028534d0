import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { underTest } from './cores.ts';

/** With a later server library every stream of it ends in a 500; the others are what it was measured with. */
const MANIFEST = {
  private: true,
  dependencies: { '@portkey-ai/gateway': '1.15.2' },
  overrides: {
    '@hono/node-server': '1.13.7',
    '@hono/node-ws': '1.3.1',
    hono: '4.13.19',
    ioredis: '5.11.1',
    jose: '6.2.17',
    ws: '8.23.0',
    zod: '3.25.76',
  },
};
/** Without a network the bench should say so soon. */
const ONE_TRY = ['--loglevel=error', '--fetch-retries=0'];
const INSTALL_WITHIN_MS = 60_000;
const START_WITHIN_MS = 10_000;

type Portkey = { readonly pid: number; readonly port: number; close(): Promise<void> };

let installed: Promise<string> | undefined;

/**
 * The peer of the gateway, as its users run it. It is no dependency of the project: it is installed for the run, outside of
 * the repository. Rejects where that cannot be done.
 */
export async function openPortkey(): Promise<Portkey> {
  installed ??= install();
  const directory = await installed;
  const port = await freePort();
  const script = join(directory, 'node_modules/@portkey-ai/gateway/build/start-server.js');
  const [command, options] = underTest(process.execPath, [script, '--headless', `--port=${port}`]);
  const env = { ...process.env, NODE_ENV: 'production', TRUSTED_CUSTOM_HOSTS: '127.0.0.1' };
  const child = spawn(command, options, { cwd: directory, env, stdio: 'ignore' });
  const close = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  };
  try {
    await untilItListens(child, port);
  } catch (error) {
    await close();
    throw error;
  }
  return { pid: child.pid ?? 0, port, close };
}

async function install(): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), 'bench-portkey-'));
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }));
  writeFileSync(join(directory, 'package.json'), JSON.stringify(MANIFEST));
  const options = ['install', '--ignore-scripts', '--no-audit', '--no-fund', ...ONE_TRY];
  await promisify(execFile)('npm', options, { cwd: directory, timeout: INSTALL_WITHIN_MS });
  return directory;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (typeof address !== 'object' || address === null) throw new Error('no port is free');
  return address.port;
}

async function untilItListens(child: ChildProcess, port: number): Promise<void> {
  const endMs = performance.now() + START_WITHIN_MS;
  while (performance.now() < endMs && child.exitCode === null) {
    const answer = await fetch(`http://127.0.0.1:${port}/`).catch(() => undefined);
    if (answer?.ok === true) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error('it did not start');
}
