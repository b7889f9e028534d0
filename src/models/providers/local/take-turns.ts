import { LIMITS } from '../../../kernel/limits.ts';
import { turnForLongWork } from '../../../kernel/long-work.ts';

/** Told of work as it is done; every so many bytes of it, whatever else is ready runs first. */
export function takeTurns(): (bytes: number) => Promise<void> {
  let done = 0;
  return async (bytes) => {
    done += bytes;
    if (done < LIMITS.vectorBytesPerTurn) return;
    done = 0;
    await turnForLongWork();
  };
}
