import { turnForLongWork } from '../../../kernel/long-work.ts';
import { MODEL_LIMITS } from '../../limits.ts';

/**
 * Returns a function to call with the bytes of work done. After every `MODEL_LIMITS.embedding.vectorBytesPerTurn` it lets other ready work run.
 */
export function takeTurns(): (bytes: number) => Promise<void> {
  let done = 0;
  return async (bytes) => {
    done += bytes;
    if (done < MODEL_LIMITS.embedding.vectorBytesPerTurn) return;
    done = 0;
    await turnForLongWork();
  };
}
