import { LIMITS } from '../kernel/limits.ts';
import type { Log } from '../kernel/log.ts';
import type { PassthroughLine } from './passthrough-store.ts';

export type PassthroughLog = {
  /** Never waits and never fails: the line is written soon, unless the process ends before. */
  add(line: PassthroughLine): void;
  /** Writes what waits. */
  flush(): Promise<void>;
};

/** Free calls for the agents' history. No money hangs on them, so nobody waits for them; a bounded number does. */
export function createPassthroughLog(deps: {
  readonly insert: (lines: readonly PassthroughLine[]) => Promise<void>;
  readonly log: Log;
}): PassthroughLog {
  const waiting: PassthroughLine[] = [];
  let forgotten = 0;
  return {
    add(line) {
      if (waiting.length >= LIMITS.passthroughLinesWaiting) {
        waiting.shift();
        forgotten++;
      }
      waiting.push(line);
    },
    async flush() {
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
    },
  };
}
