import { LIMITS } from '../../kernel/limits.ts';
import type { Log } from '../../kernel/log.ts';
import type { PassthroughLine } from './passthrough-store.ts';

export type PassthroughLog = {
  /** Never waits and never fails: the line is written soon, unless the process ends before. */
  add(line: PassthroughLine): void;
  /** Writes what waits; resolves when what was added before is written. */
  flush(): Promise<void>;
};

/** Free calls for the agents' history. No money hangs on them, so no call waits for them; a bounded number queues. */
export function createPassthroughLog(deps: {
  readonly insert: (lines: readonly PassthroughLine[]) => Promise<void>;
  readonly log: Log;
}): PassthroughLog {
  const waiting: PassthroughLine[] = [];
  let forgotten = 0;
  let writing: Promise<void> = Promise.resolve();

  const write = async (): Promise<void> => {
    if (forgotten > 0) {
      deps.log.warn({ lines: forgotten }, 'lines of free calls were forgotten unwritten');
      forgotten = 0;
    }
    while (waiting.length > 0) {
      const lines = waiting.splice(0, LIMITS.passthroughLinesPerInsert);
      try {
        await deps.insert(lines);
      } catch (error) {
        waiting.unshift(...lines);
        throw error;
      }
    }
  };

  return {
    add(line) {
      if (waiting.length >= LIMITS.passthroughLinesWaiting) {
        waiting.shift();
        forgotten++;
      }
      waiting.push(line);
    },
    flush() {
      // One at a time: what another flush has taken is not written yet.
      writing = writing.catch(() => {}).then(write);
      return writing;
    },
  };
}
