import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../src/kernel/clock.ts';
import { silentLog } from '../../src/kernel/log.ts';
import { binariesIn } from '../../src/platform/postgres/embedded/binaries.ts';
import type { SupervisorOptions } from '../../src/platform/postgres/embedded/supervisor.ts';

const PROGRAM = `#!${process.execPath}
const { appendFileSync, readFileSync } = require('node:fs');
const starts = __dirname + '/starts';
appendFileSync(starts, process.pid + '\\n');
process.on('SIGINT', () => process.exit());
const first = readFileSync(starts, 'utf8').trim().split('\\n').length === 1;
if (first && READY) process.stderr.write('ready to accept connections');
setInterval(() => {}, 1e6);
`;

export type FakePostgres = Disposable & {
  readonly options: SupervisorOptions;
  /** The process ids of all that were started. */
  starts(): readonly number[];
};

/** A server program that gets ready once at most: a second start never gets ready. */
export function fakePostgres({ ready }: { ready: boolean }): FakePostgres {
  const directory = mkdtempSync(join(tmpdir(), 'svc-fake-'));
  const postgres = join(directory, 'postgres');
  writeFileSync(postgres, PROGRAM.replace('READY', String(ready)));
  chmodSync(postgres, 0o755);
  const identity = { prefix: [], account: undefined, byHandle: false, copyBinaries: false };
  return {
    options: {
      directory,
      dataDirectory: directory,
      socketDirectory: directory,
      identity,
      binaries: { ...binariesIn(directory), postgres },
      settings: {},
      clock: systemClock,
      log: silentLog,
    },
    starts() {
      try {
        return readFileSync(join(directory, 'starts'), 'utf8').trim().split('\n').map(Number);
      } catch {
        return [];
      }
    },
    [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true }),
  };
}
