import { soon } from '../../kernel/clock.ts';

/**
 * Returns a function that counts the requests of each turn of the event loop. The function returns false for each request
 * beyond `most`, which must be answered in a later turn. One packet may hold thousands of requests, which the library serves
 * one after the other without other work in between; and the library closes the connection of a client that sends a request
 * while another request of the client waits.
 */
export function createTurnBudget(most: number): () => boolean {
  let taken = 0;
  return () => {
    if (taken === 0) soon(() => (taken = 0));
    taken += 1;
    return taken <= most;
  };
}
