import type { Log } from '../../kernel/log.ts';
import { PAYMENT_LIMITS } from '../limits.ts';
import type { PassthroughLine } from './passthrough-store.ts';

export type PassthroughLog = {
  /** Queues a line to be written soon. Never waits and never fails; the line is lost when the process ends before that. */
  add(line: PassthroughLine): void;
  /** Writes the waiting lines. Resolves when all lines that were added before are written. */
  flush(): Promise<void>;
};

/**
 * Creates the log of calls without a payment on the chain, for the agents' history. Charges are in the ledger, so that no call
 * fails because of its line. A bounded number of lines queues: beyond the bound the oldest line of a free call is forgotten,
 * and a line with a charge only when all lines have one.
 */
export function createPassthroughLog(deps: {
  readonly insert: (lines: readonly PassthroughLine[]) => Promise<void>;
  readonly log: Log;
}): PassthroughLog {
  const waiting: PassthroughLine[] = [];
  let forgotten = 0;
  let forgottenCharged = 0;
  let writing: Promise<void> = Promise.resolve();

  const report = () => {
    if (forgotten > 0) {
      deps.log.warn({ lines: forgotten }, 'lines of free calls were forgotten unwritten');
      forgotten = 0;
    }
    if (forgottenCharged > 0) {
      deps.log.error(
        { lines: forgottenCharged },
        'lines of charged calls were forgotten unwritten',
      );
      forgottenCharged = 0;
    }
  };
  const forgetOne = () => {
    const free = waiting.findIndex(({ chargedRaw }) => chargedRaw === undefined);
    waiting.splice(Math.max(free, 0), 1);
    if (free < 0) forgottenCharged++;
    else forgotten++;
  };
  const write = async (): Promise<void> => {
    report();
    while (waiting.length > 0) {
      const lines = waiting.splice(0, PAYMENT_LIMITS.passthrough.perInsert);
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
      if (waiting.length >= PAYMENT_LIMITS.passthrough.waiting) forgetOne();
      waiting.push(line);
    },
    flush() {
      // One write at a time: lines that another flush has taken are not written yet.
      writing = writing.catch(() => {}).then(write);
      return writing;
    },
  };
}
