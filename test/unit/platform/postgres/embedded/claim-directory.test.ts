import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { silentLog } from '../../../../../src/kernel/log.ts';
import {
  claimDirectory,
  sendSignal,
} from '../../../../../src/platform/postgres/embedded/claim-directory.ts';
import { ManualClock } from '../../../../support/manual-clock.ts';

let directory = '';
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'svc-claim-'));
});
afterAll(() => rmSync(directory, { recursive: true }));

describe('claiming a data directory', () => {
  it('claiming a data directory ends as soon as it is aborted', async () => {
    // An empty lock file means a server that is about to write it: it is waited for.
    writeFileSync(join(directory, 'postmaster.pid'), '');
    const calledOff = new AbortController();
    const claim = claimDirectory({
      directory,
      dataDirectory: directory,
      clock: new ManualClock(),
      log: silentLog,
      adopt: false,
      signal: calledOff.signal,
    });
    calledOff.abort(new Error('the operator stopped it'));
    await expect(claim).rejects.toThrow('the operator stopped it');
  });
});

describe('sendSignal', () => {
  it('sendSignal ignores a process that has just ended', () => {
    const { pid } = spawnSync('true');
    expect(() => sendSignal(pid, 'SIGQUIT')).not.toThrow();
  });
});
