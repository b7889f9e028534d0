import { soon } from '../../kernel/clock.ts';

/**
 * Counts the requests of each turn of the event loop. The answer is false from the one on that is too many: it is to be
 * answered in a later turn. One packet may hold thousands of requests, which the library serves one after the other
 * without letting anything else run; and it closes the connection of a client that sends a request while another one
 * of its requests waits.
 */
export function createTurnBudget(most: number): () => boolean {
  let taken = 0;
  return () => {
    if (taken === 0) soon(() => (taken = 0));
    taken += 1;
    return taken <= most;
  };
}
