import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { getPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { joined } from '../support/compiled.ts';
import { freePort, startServerProcess } from '../support/server-process.ts';

/** The directory of one database that the tests start in turn, but for the test that begins with none. */
let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'svc-start-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** Runs the server to its end, which must come soon, and gives what an operator would see. */
function refusedStart(environment: Record<string, string>) {
  const { PATH, HOME } = process.env;
  const result = spawnSync(process.execPath, [joined('src/main.ts')], {
    env: { PATH, HOME, ...environment } as NodeJS.ProcessEnv,
    encoding: 'utf8',
    timeout: 30_000,
  });
  return { code: result.status, said: result.stderr.trim(), out: result.stdout };
}

const PRODUCTION = {
  NODE_ENV: 'production',
  JWT_SECRET: 'j'.repeat(32),
  API_KEY_HMAC_SECRET: 'h'.repeat(32),
  ADMIN_API_KEY: 'admin-key',
  DATABASE_URL: 'postgres://127.0.0.1:1/none',
};

/** Threads of V8 that collect and compile, whatever the machine. */
const HELPERS = 4;

/** How far each thread of a process stands back, by its id. */
function niceness(pid: number): Map<number, number> {
  const threads = readdirSync(`/proc/${pid}/task`);
  return new Map(
    threads.map((thread) => {
      const stat = readFileSync(`/proc/${pid}/task/${thread}/stat`, 'utf8');
      // The name before it may have blanks and brackets of its own.
      const behindName = stat.slice(stat.lastIndexOf(') ') + 2).split(' ');
      return [Number(thread), Number(behindName[16])];
    }),
  );
}

describe('starting', () => {
  it('a server starts with nothing configured and exits with 0 on SIGTERM', async () => {
    const environment = { DATABASE_URL: join(directory, 'new') };
    await using first = await startServerProcess(environment);
    const health = await request(`${first.url}/v1/health`);
    expect(health.statusCode).toBe(200);
    expect(await health.body.json()).toMatchObject({
      status: 'ok',
      checks: { db: { status: 'ok' } },
    });
    expect(await first.stop(), first.output()).toBe(0);

    await using second = await startServerProcess(environment);
    expect((await request(`${second.url}/v1/health`)).statusCode).toBe(200);
    second.child.kill('SIGINT');
    expect(await second.exited, second.output()).toBe(0);
  });

  it.runIf(process.platform === 'linux')(
    'a server’s garbage collection and compiler threads run at a lower priority than its main thread',
    async () => {
      // As `nice` starts it: they stand behind that thread, wherever it stands.
      const own = Math.max(getPriority(), 5);
      const niced = `import { setPriority } from 'node:os'; setPriority(${own});`;
      const entry = ['--import', `data:text/javascript,${niced}`, joined('src/main.ts')];
      const environment = { DATABASE_URL: join(directory, 'db') };
      await using server = await startServerProcess(environment, { entry });
      const pid = server.child.pid as number;
      const nice = niceness(pid);
      expect(nice.get(pid)).toBe(own);
      const yielding = [...nice.values()].filter((each) => each === Math.min(own + 10, 19));
      expect(yielding.length, server.output()).toBeGreaterThanOrEqual(HELPERS);
    },
  );

  it('a server start is refused on a directory that another server holds, and the error names the directory', async () => {
    const environment = { DATABASE_URL: join(directory, 'db') };
    await using holder = await startServerProcess(environment);
    const refused = refusedStart({ ...environment, PORT: String(await freePort()) });
    expect(refused.code).toBe(1);
    expect(refused.said).toContain(join(directory, 'db'));
    expect(refused.said).toContain('in use');
    expect((await request(`${holder.url}/v1/health`)).statusCode).toBe(200);
    expect(await holder.stop()).toBe(0);
  });

  it('a server start is refused on a port that is taken and leaves no database running', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => taken.once('listening', resolve));
    const { port } = taken.address() as { port: number };
    const environment = { DATABASE_URL: join(directory, 'db') };
    const refused = refusedStart({ ...environment, PORT: String(port) });
    taken.close();
    expect(refused.code).toBe(1);
    expect(refused.said).toContain(String(port));
    await using second = await startServerProcess(environment);
    expect(await second.stop()).toBe(0);
  });

  it('a production start without a required variable names it in one line and exits with 1', () => {
    for (const name of [
      'JWT_SECRET',
      'API_KEY_HMAC_SECRET',
      'ADMIN_API_KEY',
      'DATABASE_URL',
    ] as const) {
      const { [name]: _, ...rest } = PRODUCTION;
      const { code, said, out } = refusedStart(rest);
      expect({ code, lines: said.split('\n').length, out }, name).toEqual({
        code: 1,
        lines: 1,
        out: '',
      });
      expect(said).toContain(name);
    }
    expect(refusedStart({ PORT: '70000' }).said).toBe('Invalid PORT: "70000"');
    expect(refusedStart({ TRUSTED_PROXIES: 'all' }).said).toContain('TRUSTED_PROXIES: "all"');
    expect(refusedStart({ X402_VALID_BEFORE_SECONDS: '0' }).said).toBe(
      'Invalid X402_VALID_BEFORE_SECONDS: "0"',
    );
  });
});
