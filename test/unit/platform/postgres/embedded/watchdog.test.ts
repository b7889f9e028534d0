import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { readProcess } from '../../../../../src/platform/postgres/embedded/process-info.ts';
import { watched } from '../../../../../src/platform/postgres/embedded/watchdog.ts';

/** Says its own number and then waits; like PostgreSQL it hears SIGINT although a shell started it. */
const PROGRAM = [
  process.execPath,
  '-e',
  'process.on("SIGINT", () => process.exit()); console.log(process.pid); setInterval(() => {}, 1e6)',
];
/** The same, but it does not heed the first time. */
const SLOW_PROGRAM = [
  process.execPath,
  '-e',
  'let n = 0; process.on("SIGINT", () => n++ > 0 && process.exit()); console.log(process.pid); setInterval(() => {}, 1e6)',
];

async function start(program: readonly string[]): Promise<{ shell: ChildProcess; pid: number }> {
  const [command = '', ...args] = watched(program);
  const shell = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const [said] = (await once(shell.stdout as NonNullable<typeof shell.stdout>, 'data')) as [Buffer];
  return { shell, pid: Number(said.toString().trim()) };
}

describe('the watchdog', () => {
  it('the database watchdog ends its program when the process at the other end of its pipe is gone', async () => {
    const { shell, pid } = await start(PROGRAM);
    expect(readProcess(pid).state).toBe('alive');
    shell.stdin?.destroy();
    await once(shell, 'exit');
    expect(readProcess(pid).state).toBe('absent');
  });

  it('the database watchdog ends a program that ignores its first signal', async () => {
    const { shell, pid } = await start(SLOW_PROGRAM);
    shell.stdin?.destroy();
    await once(shell, 'exit');
    expect(readProcess(pid).state).toBe('absent');
  });

  it('the database watchdog exits with its program’s code, however soon that ends', async () => {
    const codes = Array.from({ length: 20 }, async () => {
      const { shell } = await start(['/bin/sh', '-c', 'echo $$; exit 7']);
      const [code] = await once(shell, 'close');
      return code as unknown;
    });
    expect(new Set(await Promise.all(codes))).toEqual(new Set([7]));
  });

  it('the database watchdog reaps its program', async () => {
    const { shell, pid } = await start(PROGRAM);
    process.kill(pid, 'SIGKILL');
    await once(shell, 'exit');
    expect(readProcess(pid).state).toBe('absent');
  });
});
