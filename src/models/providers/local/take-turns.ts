import { LIMITS } from '../../../kernel/limits.ts';
import { turnForLongWork } from '../../../kernel/long-work.ts';

/**
 * Returns a function to call with the bytes of work done. After every `LIMITS.vectorBytesPerTurn` it lets other ready work run.
 */
export function takeTurns(): (bytes: number) => Promise<void> {
  let done = 0;
  return async (bytes) => {
    done += bytes;
    if (done < LIMITS.vectorBytesPerTurn) return;
    done = 0;
    await turnForLongWork();
  };
}
