import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../src/kernel/clock.ts';
import { silentLog } from '../../src/kernel/log.ts';
import { systemRandom } from '../../src/kernel/random.ts';
import {
  type EmbeddedOptions,
  type EmbeddedServer,
  startEmbedded,
} from '../../src/platform/postgres/embedded/embedded-server.ts';
import { openSql } from '../../src/platform/postgres/sql.ts';
import { joined } from './compiled.ts';

/** A folder of a test's own: open to other users as most projects are, or closed as one below /root is. */
export function scratchFolder(reach: 'open' | 'closed' = 'open'): { path: string } & Disposable {
  const path = mkdtempSync(join(tmpdir(), 'svc-dir-'));
  if (reach === 'open') chmodSync(path, 0o755);
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

/** Starts the embedded database in this process. */
export const startIn = (
  directory: string,
  over: Partial<EmbeddedOptions> = {},
): Promise<EmbeddedServer> =>
  startEmbedded({ directory, clock: systemClock, random: systemRandom, log: silentLog, ...over });

/** Adds one row and says how many there are: works only on a database that is whole. */
export async function addRow(server: EmbeddedServer): Promise<number> {
  const sql = openSql(server.target, 1);
  try {
    await sql`create table if not exists kept (id bigint generated always as identity)`;
    await sql`insert into kept default values`;
    const [row] = await sql<{ count: bigint }[]>`select count(*) as count from kept`;
    return Number(row?.count);
  } finally {
    await sql.end({ timeout: 1 });
  }
}

export const lockFile = (directory: string): string =>
  join(directory, 'postgres-18', 'postmaster.pid');

export const postmasterPid = (directory: string): number =>
  Number(readFileSync(lockFile(directory), 'utf8').split('\n')[0]);

export type EmbeddedChild = {
  readonly process: ChildProcess;
  /** Numbers of the rows whose commit was answered. */
  readonly acknowledged: readonly number[];
  /** Resolves at the first answered row; rejects with what the process said when it ends before. */
  readonly firstRow: Promise<void>;
  readonly exited: Promise<number | null>;
};

const CHILD = joined('test/support/embedded-child.ts');

/** A small server process that opens the directory as the server does and commits row after row. */
export function startChild(
  directory: string,
  options: { prefix?: readonly string[]; uid?: number } = {},
): EmbeddedChild {
  const command = [...(options.prefix ?? []), process.execPath, CHILD, directory];
  const [program = '', ...args] = command;
  const { uid } = options;
  const child = spawn(program, args, {
    ...(uid === undefined ? {} : { uid, gid: uid }),
    env: { PATH: process.env.PATH, NODE_ENV: 'test' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const acknowledged: number[] = [];
  let said = '';
  const exited = new Promise<number | null>((done) => child.on('close', (code) => done(code)));
  const firstRow = new Promise<void>((done, fail) => {
    let rest = '';
    child.stdout?.on('data', (chunk: Buffer) => {
      const lines = (rest + chunk.toString()).split('\n');
      rest = lines.pop() ?? '';
      acknowledged.push(...lines.map(Number));
      if (acknowledged.length > 0) done();
    });
    child.stderr?.on('data', (chunk: Buffer) => {
      said = (said + chunk.toString()).slice(-2_000);
    });
    child.on('close', () => fail(new Error(said.trim())));
  });
  firstRow.catch(() => {});
  return { process: child, acknowledged, firstRow, exited };
}
