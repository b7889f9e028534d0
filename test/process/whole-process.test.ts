import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { compiled } from '../support/compiled.ts';
import { type ProcessPlace, processPlace } from '../support/process-place.ts';
import { freePort, START_TIMEOUT_MS, startServerProcess } from '../support/server-process.ts';
import { ask } from '../support/whole-world.ts';

let place: ProcessPlace;
beforeEach(async () => {
  place = await processPlace();
});
afterEach(() => place[Symbol.asyncDispose]());

/** Code that the process runs besides its own, before it starts. */
const besides = (code: string) => ['--import', `data:text/javascript,${encodeURIComponent(code)}`];

/**
 * A process that is not waited for: a test may act while it starts. It leads a group of its own, so
 * that whatever it started ends with it, the server behind `npm start` too.
 */
async function begin(
  environment: Record<string, string>,
  [command, ...args] = [process.execPath, compiled('src/main.ts')],
) {
  const { PATH, HOME } = process.env;
  const PORT = String(await freePort());
  const child = spawn(command, args, {
    env: { PATH, HOME, ...place.environment, PORT, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const said = { out: '', err: '' };
  child.stdout.on('data', (data) => {
    said.out += data;
  });
  child.stderr.on('data', (data) => {
    said.err += data;
  });
  const exited = once(child, 'exit').then(([code, signal]) => code ?? signal);
  return {
    child,
    said,
    exited,
    async [Symbol.asyncDispose]() {
      killGroup(child.pid);
      await exited;
    },
  };
}

/** Ends every process of a group that is still there. */
function killGroup(leader: number | undefined) {
  if (leader === undefined) return;
  try {
    process.kill(-leader, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** A server that takes connections and drops them, as a database that is not ready. */
async function brokenDatabase(): Promise<{ server: Server; url: string; sockets: Socket[] }> {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  return { server, sockets, url: `postgres://nobody@127.0.0.1:${port}/none` };
}

describe('a start', () => {
  it('a start that waits for its database exits with 0 on SIGTERM at once, without an error', async () => {
    const { server, url, sockets } = await brokenDatabase();
    await using started = await begin({ DATABASE_URL: url });
    const { child, said, exited } = started;
    await expect.poll(() => sockets.length, { timeout: 10_000 }).toBeGreaterThan(0);
    await expect.poll(() => said.out).toContain('waiting for');
    const askedMs = performance.now();
    child.kill('SIGTERM');
    expect(await exited, said.out).toBe(0);
    expect(performance.now() - askedMs).toBeLessThan(5_000);
    expect(said.err).toBe('');
    server.close();
  });

  it('a start that is interrupted leaves a directory in which the next one starts', async () => {
    for (const afterMs of [700, 1_200, 1_700]) {
      await using started = await begin({});
      const { child, said, exited } = started;
      await new Promise((resolve) => setTimeout(resolve, afterMs));
      child.kill('SIGINT');
      // Before its handlers stand it dies of the signal itself; from then on it ends by 0.
      expect([0, 'SIGINT'], said.err).toContain(await exited);
      expect(said.err).toBe('');
    }
    await using next = await startServerProcess(place.environment);
    expect((await ask(`${next.url}/v1/health`)).status).toBe(200);
    expect(await next.stop(), next.output()).toBe(0);
  });
});

describe('npm start', () => {
  it('npm start passes SIGTERM on: the server drains, leaves nothing running, and npm exits with 0', async () => {
    await using started = await begin({}, ['npm', 'start']);
    const { child, said, exited } = started;
    await expect.poll(() => said.out, { timeout: START_TIMEOUT_MS }).toContain('"listening"');
    const { url } = JSON.parse(said.out.match(/^.*"listening".*$/m)?.[0] ?? '{}') as {
      url: string;
    };
    child.kill('SIGTERM');
    expect(await exited, said.out).toBe(0);
    expect(said.out).toContain('"stopped"');
    await expect(fetch(`${url}/v1/health`)).rejects.toThrow('fetch failed');
  });
});

describe('an uncaught error', () => {
  it('an uncaught error is logged and ends the process with 1, and another process can start', async () => {
    for (const bug of [
      "process.on('SIGUSR2', () => { throw new Error('a bug of the test'); });",
      "process.on('SIGUSR2', () => { Promise.reject(new Error('a bug of the test')); });",
    ]) {
      await using server = await startServerProcess(place.environment, {
        entry: [...besides(bug), compiled('src/main.ts')],
      });
      server.child.kill('SIGUSR2');
      expect(await server.exited).toBe(1);
      const words = server.output().split('\n');
      const last = words.find((line) => line.includes('a bug ends this process')) ?? '{}';
      expect(JSON.parse(last)).toMatchObject({ level: 60, err: { message: 'a bug of the test' } });
    }
    await using next = await startServerProcess(place.environment);
    expect(await next.stop(), next.output()).toBe(0);
  });
});
