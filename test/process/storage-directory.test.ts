import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { addRow, lockFile, scratchFolder, startChild, startIn } from '../support/embedded.ts';

/** What a crash, a container or a copied folder can leave in the lock file. */
const LEFT_BEHIND: readonly { what: string; pid: () => Promise<string> }[] = [
  { what: 'a process that is gone', pid: async () => String(spawnSync('true').pid) },
  { what: 'process 1', pid: async () => '1' },
  { what: 'this very process', pid: async () => String(process.pid) },
  { what: 'nothing', pid: async () => '' },
];

describe('a database directory', () => {
  it('a database directory that another server holds is refused with that process’s id, and its server goes on', async () => {
    using folder = scratchFolder();
    const holder = startChild(folder.path);
    await holder.firstRow;
    try {
      await expect(startIn(folder.path)).rejects.toThrow(
        `directory ${folder.path} is in use by process ${holder.process.pid}`,
      );
      const second = startChild(folder.path);
      await expect(second.firstRow).rejects.toThrow('is in use by process');
      expect(await second.exited).toBe(1);
      const rows = holder.acknowledged.length;
      await expect.poll(() => holder.acknowledged.length).toBeGreaterThan(rows);
    } finally {
      holder.process.kill('SIGTERM');
      expect(await holder.exited).toBe(0);
    }
  });

  it('a database directory that this process holds already is refused', async () => {
    using folder = scratchFolder();
    await using server = await startIn(folder.path);
    await expect(startIn(folder.path)).rejects.toThrow(`in use by process ${process.pid}`);
    expect(await addRow(server)).toBe(1);
  });

  it('a database directory that is held serves a command-line tool, which leaves its server running', async () => {
    using folder = scratchFolder();
    await using server = await startIn(folder.path);
    {
      await using tool = await startIn(folder.path, { adopt: true });
      expect(tool.adopted).toBe(true);
      expect(await addRow(tool)).toBe(1);
    }
    expect(await addRow(server)).toBe(2);
  });

  it('a database directory goes to exactly one of two concurrent starts', async () => {
    using folder = scratchFolder();
    const outcomes = await Promise.allSettled([startIn(folder.path), startIn(folder.path)]);
    const started = outcomes.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    const refused = outcomes.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
    for (const server of started) {
      expect(await addRow(server)).toBe(1);
      await server[Symbol.asyncDispose]();
    }
    expect(started).toHaveLength(1);
    expect(String(refused[0])).toContain('is in use by');
  });

  it('a database starts in its directory whatever a crash left in the lock file', async () => {
    using folder = scratchFolder();
    {
      await using server = await startIn(folder.path);
      await addRow(server);
    }
    let rows = 1;
    for (const { what, pid } of LEFT_BEHIND) {
      const number = await pid();
      const left = number === '' ? '' : `${number}\n${folder.path}\n1\n5432\n/nowhere\n\n`;
      writeFileSync(lockFile(folder.path), left);
      await using server = await startIn(folder.path);
      expect(await addRow(server), what).toBe(++rows);
    }
  });

  it('a database starts in its directory although the lock file names a zombie process', async () => {
    using folder = scratchFolder();
    await (await startIn(folder.path))[Symbol.asyncDispose]();
    // The shell becomes `sleep`, which never waits for the child that it inherits. The child ends
    // with its input, so not before: a shell may bury a child that ends while it is still a shell.
    const careless = spawn('/bin/sh', ['-c', 'exec 3<&0; cat <&3 & echo $!; exec sleep 30']);
    try {
      const [said] = (await once(careless.stdout, 'data')) as [Buffer];
      const pid = said.toString().trim();
      const stat = (of: number | string | undefined): string =>
        readFileSync(`/proc/${String(of)}/stat`, 'utf8');
      await expect.poll(() => stat(careless.pid)).toContain('(sleep) ');
      careless.stdin.end();
      // Until it has ended it is a process like any other.
      await expect.poll(() => stat(pid)).toContain(') Z ');
      writeFileSync(lockFile(folder.path), `${pid}\n${folder.path}\n1\n`);
      await using server = await startIn(folder.path);
      expect(await addRow(server)).toBe(1);
    } finally {
      careless.kill('SIGKILL');
    }
  });

  it('a database directory of another version or another PostgreSQL, or below a file, is refused', async () => {
    using folder = scratchFolder();
    mkdirSync(join(folder.path, 'old/postgres-17'), { recursive: true });
    mkdirSync(join(folder.path, 'foreign'));
    writeFileSync(join(folder.path, 'foreign/PG_VERSION'), '16\n');
    writeFileSync(join(folder.path, 'file'), '');
    await expect(startIn(join(folder.path, 'old'))).rejects.toThrow('made by PostgreSQL 17');
    await expect(startIn(join(folder.path, 'foreign'))).rejects.toThrow('another PostgreSQL');
    await expect(startIn(join(folder.path, 'file/db'))).rejects.toThrow('cannot be made');
  });
});
