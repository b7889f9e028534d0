import type { ChatCompletion, ChatRail, ChatStream, Reported } from '../providers/chat-rail.ts';
import { type StoreDelivered, storeBeforeCharge } from '../purchase/store-before-charge.ts';
import { requirePriced } from '../routing/unpriced-features.ts';
import { withCap } from './bound-chat.ts';
import { type ChatDialect, chatCall, type MeasuredBody } from './chat-product.ts';

export type ChatAnswer = ChatCompletion | { readonly stream: ChatStream };

/** Returns the usage of an answer so far. */
export const reportedOf = (answer: ChatAnswer): Reported =>
  'stream' in answer ? answer.stream.metered() : answer;

type ChatBody = MeasuredBody & {
  /** Stores an answer before it is charged. Only for answers that are not streamed. */
  readonly keep: StoreDelivered<ChatCompletion> | undefined;
};

/** Dialect of chat completions, which every rail speaks: the request is sent as it came, with the cap of its answer. */
export const COMPLETIONS: ChatDialect<ChatBody, ChatRail, ChatAnswer> = {
  reported: reportedOf,
  needsMarks: ({ messages }) => messages !== undefined,
  requirePriced: ({ measured }) => requirePriced(measured),
  send(rail, { keep, measured }, options, signal) {
    const { outputCap, servedAs } = options;
    const body = outputCap === undefined ? measured : withCap(measured, outputCap);
    const call = chatCall(options, { body, servedAs });
    return measured.stream === true
      ? rail.stream(call, signal)
      : storeBeforeCharge(rail.complete(call, signal), keep);
  },
};
