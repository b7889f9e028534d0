import type { Log } from '../../kernel/log.ts';
import type { ChatStream } from '../providers/chat-rail.ts';
import type { Metered } from '../purchase/charge-row.ts';
import type { OpenPurchase } from '../purchase/purchase.ts';
import { streamHeaders } from '../purchase/receipt.ts';
import type { ChatRequest } from './chat-request.ts';
import { meterChat } from './chat-usage.ts';
import { relayStream } from './relay-stream.ts';
import { brokenEnd, wholeEnd } from './stream-end.ts';

/** A streamed answer under what is known of its price before it begins. */
export type StreamedAnswer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: AsyncIterable<Uint8Array>;
  readonly upstreamMs: number;
};

type Deps = { readonly log: Log };
type Bargain = OpenPurchase<{ readonly stream: ChatStream }>;

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
    return meterChat(request, { usage, answerChars }, bought.source, bought.mostTokens);
  });

/**
 * Relays a stream and settles it when it is over, whichever side ends it: to what its upstream has metered, or to what was
 * delivered where that was not told. One that breaks ends with an error event and without the terminator.
 */
export async function deliverEvents(
  deps: Deps,
  bought: OpenPurchase<{ readonly stream: Events }>,
  meter: () => Metered,
): Promise<StreamedAnswer> {
  return {
    status: 200,
    headers: streamHeaders(bought.served, await bought.budget()),
    body: settledStream(deps, bought, meter),
    upstreamMs: bought.upstreamMs,
  };
}

function settledStream(
  deps: Deps,
  { outcome, settle, source }: OpenPurchase<{ readonly stream: Events }>,
  meter: () => Metered,
): AsyncIterable<Uint8Array> {
  const settled = async () => (await settle(meter())).chargedRaw;
  return relayStream(outcome.stream, {
    piece: (events) => events,
    end: async () => wholeEnd(await settled()),
    async broken(err) {
      deps.log.warn({ err, provider: source.provider }, 'a streamed answer broke off');
      return brokenEnd(await settled());
    },
    async left() {
      await settled();
    },
  });
}
