import { type Clock, sleep } from '../../../kernel/clock.ts';
import type { Fetch } from '../../../platform/egress/fetch.ts';
import { type Feed, FeedAway, type FeedEvent, readFeedPage } from './read-feed.ts';

const POLL_MS = 1_000;
const MOST_BACKOFF_MS = 30_000;

/**
 * Hands on each event of an account, one after the other, until `signal` fires. Reports an unreachable server once and retries
 * with growing pauses. Throws when the server refuses the request.
 */
export async function followFeed(
  deps: {
    readonly fetch: Fetch;
    readonly clock: Clock;
    readonly signal: AbortSignal;
    said(line: string): void;
    received(event: FeedEvent): Promise<void>;
  },
  feed: Feed,
  /** Position to start after. Undefined: start after the latest event. */
  begin: string | undefined,
): Promise<void> {
  const { clock, fetch, received, said, signal } = deps;
  let after = begin;
  let hasAnswered = false;
  let failures = 0;
  while (!signal.aborted) {
    try {
      const page = await readFeedPage(fetch, feed, after);
      if (failures > 0) said(`${feed.server} answers again.`);
      if (!hasAnswered)
        said(`Events of ${feed.server} behind ${after ?? page.after}. Ctrl-C ends.`);
      [hasAnswered, failures] = [true, 0];
      for (const event of page.events) {
        if (signal.aborted) return;
        await received(event);
      }
      after = page.after;
      if (page.hasMore && page.events.length > 0) continue;
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof FeedAway)) throw error;
      if (failures === 0) said(`${error.message} It is asked again.`);
      failures += 1;
    }
    await sleep(clock, Math.min(POLL_MS * 2 ** Math.max(0, failures - 1), MOST_BACKOFF_MS), signal);
  }
}
