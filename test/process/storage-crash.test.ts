import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/kernel/clock.ts';
import { silentLog } from '../../src/kernel/log.ts';
import { openDatabase } from '../../src/platform/postgres/database.ts';
import { readProcess } from '../../src/platform/postgres/embedded/process-info.ts';
import { openSql } from '../../src/platform/postgres/sql.ts';
import { postmasterPid, scratchFolder, startChild, startIn } from '../support/embedded.ts';

const pause = (ms: number) =>
  new Promise((resolve) => systemClock.setTimeout(() => resolve(0), ms));

describe('a server killed at any moment', () => {
  it('a server killed at five moments starts again with every commit that it acknowledged', async () => {
    using folder = scratchFolder();
    const acknowledged: number[] = [];
    for (const aliveMs of [3, 211, 47, 0, 118]) {
      const child = startChild(folder.path);
      await child.firstRow;
      await pause(aliveMs);
      child.process.kill('SIGKILL');
      await child.exited;
      acknowledged.push(...child.acknowledged);
    }
    await using server = await startIn(folder.path);
    const sql = openSql(server.target, 1);
    const rows = await sql<{ n: bigint }[]>`select n from numbers`;
    await sql.end();
    const kept = new Set(rows.map((row) => Number(row.n)));
    expect(acknowledged.length).toBeGreaterThan(10);
    expect(acknowledged.filter((n) => !kept.has(n))).toEqual([]);
  });

  it('a server killed while making, opening or first using its database starts again', async () => {
    using folder = scratchFolder();
    const makes = (name: string) => name.startsWith('postgres-18.init-');
    const moments: readonly (() => boolean)[] = [
      () => readdirSync(folder.path).some(makes),
      () => readdirSync(folder.path).some((name) => existsSync(join(folder.path, name, 'base/1'))),
      () => existsSync(join(folder.path, 'postgres-18')),
      () => existsSync(join(folder.path, 'postgres-18/postmaster.pid')),
      () => existsSync(join(folder.path, 'postgres-18/.s.PGSQL.5432')),
    ];
    for (const reached of moments) {
      const child = startChild(folder.path);
      while (!reached() && child.process.exitCode === null) await pause(1);
      child.process.kill('SIGKILL');
      await child.exited;
    }
    const last = startChild(folder.path);
    await last.firstRow;
    last.process.kill('SIGTERM');
    expect(await last.exited).toBe(0);
  });

  it('a killed server leaves no database process behind', async () => {
    using folder = scratchFolder();
    const child = startChild(folder.path);
    await child.firstRow;
    const pid = postmasterPid(folder.path);
    child.process.kill('SIGKILL');
    await expect.poll(() => readProcess(pid).state, { timeout: 10_000 }).not.toBe('alive');
  });
});

describe('a database killed under a server that lives', () => {
  it('a database killed under a running server restarts, and the same pool works again', async () => {
    using folder = scratchFolder();
    await using database = await openDatabase({
      database: { kind: 'directory', path: folder.path },
      log: silentLog,
    });
    const { sql } = database;
    await sql`create table kept (n int)`;
    for (const n of [1, 2, 3]) {
      await sql`insert into kept values (${n})`;
      const killed = postmasterPid(folder.path);
      process.kill(killed, 'SIGKILL');
      await expect.poll(() => nextPid(folder.path, killed), { timeout: 20_000 }).not.toBe(killed);
      const answers = () =>
        sql`select count(*) as count from kept`.then(
          ([row]) => Number(row?.count),
          () => 'no answer yet',
        );
      await expect.poll(answers, { timeout: 20_000, interval: 20 }).toBe(n);
    }
    expect(await database.ping()).toBeLessThan(5_000);
  });

  it('a database whose watchdog is killed restarts', async () => {
    using folder = scratchFolder();
    await using database = await openDatabase({
      database: { kind: 'directory', path: folder.path },
      log: silentLog,
    });
    const before = postmasterPid(folder.path);
    const watchdog = parentOf(before);
    process.kill(watchdog, 'SIGKILL');
    await expect.poll(() => nextPid(folder.path, before), { timeout: 20_000 }).not.toBe(before);
    await expect
      .poll(
        () =>
          database.ping().then(
            () => true,
            () => false,
          ),
        { timeout: 20_000 },
      )
      .toBe(true);
  });
});

/** The postmaster that came after `former`; `former` while there is none yet. */
function nextPid(directory: string, former: number): number {
  try {
    return postmasterPid(directory) || former;
  } catch {
    return former;
  }
}

const parentOf = (pid: number): number =>
  Number(/PPid:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
