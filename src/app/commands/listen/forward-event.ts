import type { Clock } from '../../../kernel/clock.ts';
import { type Random, randomHex } from '../../../kernel/random.ts';
import { AnswerTooLarge, type Fetch } from '../../../platform/egress/fetch.ts';
import { signedHeaders } from '../../../webhooks/delivery/sign-delivery.ts';
import { WEBHOOK_LIMITS } from '../../../webhooks/limits.ts';
import { failureWord } from './failure-word.ts';
import type { FeedEvent } from './read-feed.ts';

/** Posts an event to `url` as the server posts events to a webhook, signed with `secret`. Returns a line about the result. */
export async function forwardEvent(
  deps: { readonly fetch: Fetch; readonly clock: Clock; readonly random: Random },
  { secret, url }: { readonly secret: string; readonly url: string },
  event: FeedEvent,
): Promise<string> {
  const { clock, random } = deps;
  const { answerBytes, timeoutMs: attemptMs } = WEBHOOK_LIMITS.attempt;
  const body = JSON.stringify(event);
  const deliveryId = randomHex(random, 16);
  const headers = signedHeaders({ current: secret }, { deliveryId, body, nowMs: clock.now() });
  const startedMs = clock.monotonicMs();
  const took = () => `${Math.round(clock.monotonicMs() - startedMs)} ms`;
  try {
    const { status } = await deps.fetch({
      url,
      method: 'POST',
      headers: Object.fromEntries(headers),
      body,
      timeoutMs: attemptMs,
      maxResponseBytes: answerBytes,
    });
    return `${status} in ${took()}`;
  } catch (error) {
    if (error instanceof AnswerTooLarge) return `${error.message}, after ${took()}`;
    return `no answer (${failureWord(error)}) in ${took()}`;
  }
}
