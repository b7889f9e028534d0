import type { Log } from '../../kernel/log.ts';
import type { BudgetLeft } from '../../spend/awareness/budget-left.ts';
import type { ChatStream } from '../providers/chat-rail.ts';
import { breakTypeOf } from '../routing/attempt-span.ts';
import { type Price, streamHeaders } from './receipt.ts';
import { relayStream } from './relay-stream.ts';
import type { HeldPurchase } from './settle.ts';
import { OPENAI_ENDING, type StreamEnding } from './stream-end.ts';

/** Streamed answer. Its headers have the facts about the price that are known before the stream begins. */
export type StreamedAnswer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: AsyncIterable<Uint8Array>;
  readonly upstreamMs: number;
};

/** Whole events of a stream that is delivered. */
type Events = Pick<ChatStream, 'next' | 'stop'> & {
  /** Returns the last event of the stream, which carries the price. */
  last?(price: Price): Uint8Array;
};

/**
 * Relays a stream and settles the purchase when the stream is over, whichever side ends it: to the upstream's usage, or to the
 * delivered part when the upstream reports none. A stream that breaks ends with an error event and without the terminator.
 */
export async function answerEvents(
  { log }: { readonly log: Log },
  bought: HeldPurchase<unknown>,
  events: Events,
  ending: StreamEnding = OPENAI_ENDING,
): Promise<StreamedAnswer> {
  const { served, source, upstreamMs } = bought;
  const headers = streamHeaders(served, await budgetOf(bought, events));
  const body = relayStream(events, {
    piece: (bytes) => bytes,
    async end() {
      const price = await bought.settle();
      const whole = ending.whole(price);
      const last = events.last?.(price);
      return last === undefined ? whole : Buffer.concat([last, whole]);
    },
    async broken(err) {
      log.warn({ err, provider: source.provider }, 'a streamed answer broke off');
      return ending.broken(await bought.settle(breakTypeOf(err)), err);
    },
    async left() {
      await bought.settle();
    },
  });
  return { status: 200, headers, body, upstreamMs };
}

/** Reads the agent's remaining budget. On failure, stops the upstream and rethrows. */
export async function budgetOf(
  bought: Pick<HeldPurchase<unknown>, 'budget'>,
  events: Pick<Events, 'stop'>,
): Promise<BudgetLeft> {
  try {
    return await bought.budget();
  } catch (error) {
    events.stop();
    throw error;
  }
}
