import { LIMITS } from '../../../kernel/limits.ts';
import { turnForLongWork } from '../../../kernel/long-work.ts';

/** Called as work is done; after every so many bytes of it, other work that is ready runs first. */
export function takeTurns(): (bytes: number) => Promise<void> {
  let done = 0;
  return async (bytes) => {
    done += bytes;
    if (done < LIMITS.vectorBytesPerTurn) return;
    done = 0;
    await turnForLongWork();
  };
}
