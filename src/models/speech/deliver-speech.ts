import type { Log } from '../../kernel/log.ts';
import type { StopSignal } from '../../kernel/stop-signal.ts';
import { SendFailed } from '../../platform/egress/send-failed.ts';
import type { Source } from '../catalogue/catalogue.ts';
import type { Speech, SpeechSound } from '../providers/speech-rail.ts';
import type { StreamedAnswer } from '../purchase/answer-events.ts';
import { type Price, receiptHeaders, streamHeaders } from '../purchase/receipt.ts';
import { relayStream } from '../purchase/relay-stream.ts';
import type { HeldPurchase } from '../purchase/settle.ts';
import { brokenEnd, priceComments } from '../purchase/stream-end.ts';
import { breakTypeOf } from '../routing/attempt-span.ts';
import type { SpeechRequest } from './speech-request.ts';
import { billsTokens, estimateSpeech } from './speech-usage.ts';

type Deps = {
  readonly log: Log;
  /** Fires when the client leaves. */
  readonly signal: StopSignal;
};

const EVENT_STREAM = 'text/event-stream; charset=utf-8';

/**
 * Settles speech when its first bytes have come and before the headers are sent, so that the headers have the charge. The text
 * is billed: its characters are known, vendors bill all of them from the first byte on, and the delivered share of a broken
 * file is unknown. So a break or a leaving client changes nothing after the first byte, and before it nothing is charged. When
 * a source bills tokens and the caller takes events, the last event reports the usage and the charge is settled at the end, as
 * for streamed chat. A file cannot report usage, and is settled to the estimate.
 */
export async function deliverSpeech(
  deps: Deps,
  request: SpeechRequest,
  bought: HeldPurchase<Speech>,
): Promise<StreamedAnswer> {
  const { outcome, served, source, upstreamMs } = bought;
  const { contentType, sound } = outcome;
  const inEvents = request.stream_format === 'sse';
  try {
    if (inEvents && billsTokens(source)) {
      const headers = streamHeaders(served, await bought.budget());
      return { status: 200, headers, body: eventsOf(deps, request, bought, true), upstreamMs };
    }
    const settled = await bought.settle();
    const headers = {
      'cache-control': 'no-cache',
      ...receiptHeaders(served, settled, inEvents ? EVENT_STREAM : contentType),
    };
    const body = inEvents ? eventsOf(deps, request, bought, false) : fileOf(deps, bought);
    return { status: 200, headers, body, upstreamMs };
  } catch (error) {
    sound.stop();
    throw error;
  }
}

/**
 * Returns the bytes of the file as they come. Throws in the middle of a file that breaks, so that a client never takes it for a
 * whole file.
 */
const fileOf = (deps: Deps, { outcome, source }: HeldPurchase<Speech>): AsyncIterable<Uint8Array> =>
  relayStream(outcome.sound, {
    piece: (sound) => sound,
    end: async () => undefined,
    async broken(cause) {
      warnOfBreak(deps, source, cause);
      throw new SendFailed('broken', { beforeBytes: false, cause });
    },
    async left() {},
  });

function eventsOf(
  deps: Deps,
  request: SpeechRequest,
  bought: HeldPurchase<Speech>,
  isOpen: boolean,
): AsyncIterable<Uint8Array> {
  const { outcome, source } = bought;
  const { sound } = outcome;
  const settle = async (error?: string): Promise<Price | undefined> =>
    isOpen ? await bought.settle(error) : undefined;
  return relayStream(sound, {
    piece: (bytes) => event({ type: 'speech.audio.delta', audio: base64(bytes) }),
    async end() {
      const price = await settle();
      const done = event({ type: 'speech.audio.done', usage: usageEventOf(request, sound) });
      return price === undefined ? done : Buffer.concat([done, priceComments(price)]);
    },
    async broken(cause) {
      warnOfBreak(deps, source, cause);
      return brokenEnd(await settle(breakTypeOf(cause)));
    },
    async left() {
      await settle();
    },
  });
}

function warnOfBreak({ log, signal }: Deps, { provider }: Source, err: unknown): void {
  if (!signal.aborted) log.warn({ err, provider }, 'speech broke off');
}

const event = (data: object): Buffer => Buffer.from(`data: ${JSON.stringify(data)}\n\n`);

const base64 = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');

/**
 * Returns the `usage` of the last event. Clients of this route read tokens, whichever unit was billed; estimated tokens are
 * marked.
 */
function usageEventOf(request: SpeechRequest, sound: SpeechSound) {
  const reported = sound.usage();
  const { characters, ...guessed } = estimateSpeech(request);
  const { inputTokens, outputTokens } = reported ?? guessed;
  return {
    input_tokens: inputTokens,
    output_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
    characters,
    ...(reported === null ? { estimated: true } : {}),
  };
}
