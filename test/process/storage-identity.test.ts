import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runProgram } from '../../src/platform/postgres/embedded/run-program.ts';
import { readSystem, UNSHARE } from '../../src/platform/postgres/embedded/system-accounts.ts';
import { addRow, scratchFolder, startChild, startIn } from '../support/embedded.ts';

const system = readSystem();
const root = system.uid === 0;
const NOBODY = 65_534;

/** Starts twice: what the first start made, the second must be able to use. */
async function worksTwice(directory: string, over: Parameters<typeof startIn>[1] = {}) {
  for (const expected of [1, 2]) {
    await using server = await startIn(directory, over);
    expect(await addRow(server)).toBe(expected);
  }
}

/** How a test that runs as root becomes an ordinary user who can still read the sources. */
async function ordinaryUser() {
  if (!root) return {};
  if (system.othersMayEnter(resolve('package.json'))) return { uid: NOBODY };
  expect((await runProgram([...UNSHARE, 'true'])).code).toBe(0);
  return { prefix: UNSHARE };
}

describe('the embedded database runs as the user who starts it', () => {
  it('the embedded database works for its user in an open folder', async () => {
    using folder = scratchFolder('open');
    await worksTwice(`${folder.path}/db`);
    const data = statSync(`${folder.path}/db/postgres-18`);
    expect(data.mode & 0o077).toBe(0);
  });

  it('the embedded database works in a folder that no other user may enter', async () => {
    using folder = scratchFolder('closed');
    await worksTwice(`${folder.path}/db`);
  });

  it('the embedded database works in a closed folder where user namespaces are refused', async () => {
    using folder = scratchFolder('closed');
    await worksTwice(`${folder.path}/db`, {
      system: { ...system, mayUnshare: async () => false },
    });
  });

  it('the embedded database works where its binaries lie in a closed folder as well', async () => {
    using folder = scratchFolder('closed');
    await worksTwice(`${folder.path}/db`, {
      system: { ...system, othersMayEnter: () => false, mayUnshare: async () => false },
    });
  });

  it('the embedded database keeps its rows when the way it is run changes between two starts', async () => {
    using folder = scratchFolder('closed');
    const refused = { system: { ...system, mayUnshare: async () => false } };
    const rows: number[] = [];
    for (const over of [{}, refused, {}, refused]) {
      await using server = await startIn(`${folder.path}/db`, over);
      rows.push(await addRow(server));
    }
    expect(rows).toEqual([1, 2, 3, 4]);
  });

  it('the embedded database works for an ordinary user', async () => {
    using folder = scratchFolder('open');
    const as = await ordinaryUser();
    const directory = `${folder.path}/db`;
    await runProgram(['install', '-d', '-m', '700', directory]);
    if (as.uid !== undefined) await runProgram(['chown', String(as.uid), directory]);
    const child = startChild(directory, as);
    await child.firstRow;
    child.process.kill('SIGTERM');
    expect(await child.exited).toBe(0);
  });

  it('the embedded database works at a path too long for a socket', async () => {
    using folder = scratchFolder('open');
    const deep = `${folder.path}/${'a-long-name/'.repeat(12)}db`;
    await using server = await startIn(deep);
    expect(await addRow(server)).toBe(1);
    const place = server.target.kind === 'socket' ? server.target.directory : '';
    expect(place.startsWith(folder.path)).toBe(false);
    await server[Symbol.asyncDispose]();
    expect(existsSync(place)).toBe(false);
  });
});
