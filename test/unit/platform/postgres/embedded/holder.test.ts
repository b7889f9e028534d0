import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findHolder } from '../../../../../src/platform/postgres/embedded/holder.ts';
import { ownerLives, ownerMark } from '../../../../../src/platform/postgres/embedded/owner.ts';
import { readProcess } from '../../../../../src/platform/postgres/embedded/process-info.ts';

let directory = '';
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'svc-holder-'));
});
afterAll(() => rmSync(directory, { recursive: true }));

const holderOf = (lockFile: string) => {
  writeFileSync(join(directory, 'postmaster.pid'), lockFile);
  return findHolder(directory);
};
const goneProcess = () => spawnSync('true').pid;

describe('who holds a data directory', () => {
  it('a data directory without a lock file, or whose process is gone, is free', () => {
    rmSync(join(directory, 'postmaster.pid'), { force: true });
    expect(findHolder(directory)).toEqual({ kind: 'free' });
    expect(holderOf(`${goneProcess()}\n${directory}\n`)).toEqual({ kind: 'free' });
  });

  it('a data directory whose lock names an unrelated process is stale', () => {
    expect(holderOf(`${process.pid}\n`).kind).toBe('stale');
    expect(holderOf('1\n').kind).toBe('stale');
  });

  it('a data directory whose lock file is empty or malformed is unclear', () => {
    expect(holderOf('').kind).toBe('unclear');
    expect(holderOf('rubbish\n').kind).toBe('unclear');
  });

  it('a data directory is held by the postmaster that runs in it, with its owner process', async () => {
    // Named like the program, and working in the folder: that is what a postmaster is known by.
    const server = spawn('sleep', ['30'], { argv0: 'postgres', cwd: directory });
    try {
      const options = `/bin/postgres "-D" "x" "-c" "svc.owner=${ownerMark()}"\n`;
      writeFileSync(join(directory, 'postmaster.opts'), options);
      expect(holderOf(`${server.pid}\nx\n1\n5432\n/tmp/place\n`)).toEqual({
        kind: 'postmaster',
        pid: server.pid,
        socketDirectory: '/tmp/place',
        owner: { mark: ownerMark(), lives: true },
      });
    } finally {
      server.kill('SIGKILL');
    }
  });
});

describe('the mark of a process', () => {
  it('a process mark is alive for this process and dead for one that is gone', () => {
    expect(ownerLives(ownerMark())).toBe(true);
    expect(ownerLives(`${goneProcess()}.1`)).toBe(false);
  });

  it('a process mark is not mistaken for a later process with the same number', () => {
    expect(ownerLives(`${process.pid}.1`)).toBe(false);
  });

  it('a process number that cannot exist reads as absent', () => {
    expect(readProcess(-1).state).toBe('absent');
    expect(readProcess(Number.NaN).state).toBe('absent');
  });
});
