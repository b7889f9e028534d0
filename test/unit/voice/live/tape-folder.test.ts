import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { silentLog } from '../../../../src/kernel/log.ts';
import { openTapeFolder } from '../../../../src/voice/live/tape-folder.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'tapes-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const open = (limits = {}, directory = join(root, 'deep', 'tapes')) =>
  openTapeFolder({
    directory,
    log: silentLog,
    limits: { files: 2, bytes: 100, unwrittenBytes: 1_000, ...limits },
  });
const path = (name: string) => join(root, 'deep', 'tapes', name);

describe('the folder of recordings', () => {
  it('the folder of recordings keeps one file a session, which only this user may read', async () => {
    const folder = await open();
    const sink = folder.begin('sess_1');
    expect(sink?.write(Buffer.from('one '))).toBe(true);
    sink?.end(Buffer.from('two'));
    await expect.poll(() => readFileSync(path('sess_1.tape'), 'utf8')).toBe('one two');
    expect(statSync(path('sess_1.tape')).mode & 0o777).toBe(0o600);
    expect(statSync(path('')).mode & 0o777).toBe(0o700);
  });

  it('the folder of recordings holds no more files than its limit, those of earlier processes included', async () => {
    (await open()).begin('sess_1')?.end(Buffer.from('x'));
    await expect.poll(() => readdirSync(path(''))).toEqual(['sess_1.tape']);
    const later = await open();
    later.begin('sess_2')?.end(Buffer.from('x'));
    expect(later.begin('sess_3')).toBeUndefined();
  });

  it('the folder of recordings has room for later sessions when files were removed', async () => {
    const folder = await open();
    for (const id of ['sess_1', 'sess_2']) folder.begin(id)?.end(Buffer.from('x'));
    await expect.poll(() => readdirSync(path('')).length).toBe(2);
    rmSync(path('sess_1.tape'));
    expect(folder.begin('sess_3')).toBeUndefined();
    await expect.poll(() => folder.begin('sess_4')).toBeDefined();
    // What has just begun counts, whether or not its file is there.
    for (let i = 0; i < 3; i++) {
      expect(folder.begin('sess_5')).toBeUndefined();
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    expect(readdirSync(path('')).sort()).toEqual(['sess_2.tape', 'sess_4.tape']);
  });

  it("the folder of recordings stops a session's tape at its byte limit, and still writes the end of the tape", async () => {
    const sink = (await open()).begin('sess_1');
    expect(sink?.write(Buffer.alloc(60))).toBe(true);
    expect(sink?.write(Buffer.alloc(60))).toBe(false);
    sink?.end(Buffer.from('end'));
    await expect.poll(() => statSync(path('sess_1.tape')).size).toBe(63);
  });

  it('the folder of recordings takes no more of a session while the disk is behind, and still writes the end of the tape', async () => {
    const sink = (await open({ bytes: 1e9, unwrittenBytes: 10 })).begin('sess_1');
    const written = Array.from({ length: 3 }, () => sink?.write(Buffer.alloc(1_000)));
    expect(written).toEqual([true, false, false]);
    sink?.end(Buffer.from('x'));
    await expect.poll(() => statSync(path('sess_1.tape')).size).toBe(1_001);
  });

  it('the folder of recordings overwrites no file, and refuses the bytes of a session whose file exists', async () => {
    const folder = await open();
    writeFileSync(path('sess_1.tape'), 'before');
    const sink = folder.begin('sess_1');
    await expect.poll(() => sink?.write(Buffer.from('x'))).toBe(false);
    sink?.end(Buffer.from('x'));
    expect(readFileSync(path('sess_1.tape'), 'utf8')).toBe('before');
  });
});
