import { BRAND } from '../kernel/ids.ts';
import type { Log } from '../kernel/log.ts';
import type { ChatStream } from '../rails/chat-stream.ts';
import type { Metered } from './charge-row.ts';
import type { ChatRequest } from './chat-request.ts';
import { meterChat } from './chat-usage.ts';
import type { Bought } from './purchase.ts';
import { streamHeaders } from './receipt.ts';

/** A streamed answer under what is known of its price before it begins. */
export type StreamedAnswer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: AsyncIterable<Uint8Array>;
  readonly upstreamMs: number;
};

type Deps = { readonly log: Log };
type Bargain = Bought<{ readonly stream: ChatStream }>;

/** Of a stream, what its delivery needs: whole events until there are no more. */
type Events = Pick<ChatStream, 'next' | 'stop'>;

/** Relays a chat, metered by its tokens. */
export const deliverStream = (
  deps: Deps,
  request: ChatRequest,
  bought: Bargain,
): Promise<StreamedAnswer> =>
  deliverEvents(deps, bought, () => {
    const { usage, answerChars } = bought.outcome.stream.metered();
    return meterChat(request, { usage, answerChars }, bought.source);
  });

/**
 * Relays a stream and settles it when it is over, whoever ends it: to what its upstream has metered, or to what was
 * delivered where that was not told. One that breaks ends with an error event and without the terminator.
 */
export async function deliverEvents(
  deps: Deps,
  bought: Bought<{ readonly stream: Events }>,
  meter: () => Metered,
): Promise<StreamedAnswer> {
  const { advisory, remainingRaw } = await bought.budget();
  return {
    status: 200,
    headers: streamHeaders({ ...bought.served, advisory, remainingRaw }),
    body: settledStream(deps, bought, meter),
    upstreamMs: bought.upstreamMs,
  };
}

/** No generator: one that is left before its first event would settle nothing. */
function settledStream(
  deps: Deps,
  bought: Bought<{ readonly stream: Events }>,
  meter: () => Metered,
): AsyncIterable<Uint8Array> {
  const { outcome, source } = bought;
  const { stream } = outcome;
  let isOver = false;
  const settle = async (): Promise<bigint> => {
    isOver = true;
    return (await bought.settle(meter())).chargedRaw;
  };

  async function next(): Promise<IteratorResult<Uint8Array>> {
    if (isOver) return { done: true, value: undefined };
    let events: Uint8Array | undefined;
    try {
      events = await stream.next();
    } catch (err) {
      deps.log.warn({ err, provider: source.provider }, 'a streamed answer broke off');
      await settle();
      return { done: false, value: BROKEN };
    }
    if (events !== undefined) return { done: false, value: events };
    return { done: false, value: ending(await settle()) };
  }

  return {
    [Symbol.asyncIterator]: () => ({
      next,
      async return() {
        if (!isOver) {
          stream.stop();
          await settle();
        }
        return { done: true, value: undefined };
      },
    }),
  };
}

/** What it came to stands where every reader of such streams looks past it. */
const ending = (chargedRaw: bigint): Buffer =>
  Buffer.from(`: ${BRAND.headerPrefix}cost-usdc=${chargedRaw}\n\ndata: [DONE]\n\n`);

export const BROKEN = Buffer.from(
  `data: ${JSON.stringify({
    error: {
      message: 'The upstream broke off in the middle of its answer; what came of it is charged.',
      type: 'upstream_error',
      code: 'upstream_broke_off',
    },
  })}\n\n`,
);
