import { execFileSync } from 'node:child_process';
import { NODE_OPTIONS } from '../src/app/node-options.ts';

/** The server under test has a core to itself; its callers, its upstream and the database share another. */
export const UNDER_TEST = '0';
const BESIDE = '1';

const PROGRAM = 'taskset';

const taskset = (...options: string[]): string | undefined => {
  try {
    return execFileSync(PROGRAM, options, { encoding: 'utf8', stdio: 'pipe' });
  } catch {
    return undefined;
  }
};

/** Whether this machine can keep processes apart; one without `taskset` measures all the same, less steadily. */
export const canPin = taskset('-c', BESIDE, 'true') !== undefined;

/** A command as it is started on the core of the server under test. */
export const underTest = (command: string, options: readonly string[]): [string, string[]] =>
  canPin ? [PROGRAM, ['-c', UNDER_TEST, command, ...options]] : [command, [...options]];

/** Node.js with the options of a server, on that core, or on all of them. */
export const nodeUnderTest = (isPinned = true): [string, string[]] =>
  isPinned ? underTest(process.execPath, NODE_OPTIONS) : [process.execPath, [...NODE_OPTIONS]];

/** Keeps this process, and what it starts meanwhile, off that core; until it is disposed of. */
export function stayBeside(): Disposable {
  const pid = String(process.pid);
  const before = canPin ? taskset('-p', pid)?.trim().split(' ').at(-1) : undefined;
  if (before === undefined) return { [Symbol.dispose]() {} };
  taskset('-acp', BESIDE, pid);
  return { [Symbol.dispose]: () => void taskset('-ap', before, pid) };
}
