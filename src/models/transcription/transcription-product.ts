import { probeDuration } from '../../../media/duration/probe-duration.ts';
import { requireOffers } from '../catalogue/require-model.ts';
import { gatewayErrors } from '../errors.ts';
import type {
  TranscriptionAnswer,
  TranscriptionRail,
  TranscriptStream,
} from '../providers/transcription-rail.ts';
import type { BuyDeps } from '../purchase/buy.ts';
import { orderSignal } from '../purchase/order-signal.ts';
import type { Product } from '../purchase/product.ts';
import { planOffers } from '../routing/plan-offers.ts';
import type { TranscriptionRequest } from './transcription-request.ts';
import { meterTranscription, type Sound, transcriptionBoundRaw } from './transcription-usage.ts';

/** File of a request. It is read once, and only when a source could transcribe it. */
export class SoundFile {
  readonly #bytes: Buffer;
  #durationMs: Promise<number> | undefined;

  constructor({ bytes }: TranscriptionRequest['file']) {
    this.#bytes = bytes;
  }

  /** Returns the milliseconds of audio. Throws the refusal of a file without audio. */
  durationMs(): Promise<number> {
    this.#durationMs ??= probe(this.#bytes);
    return this.#durationMs;
  }
}

type TranscriptionBody = { readonly request: TranscriptionRequest; readonly file: SoundFile };
type Transcript = TranscriptionAnswer | { readonly stream: TranscriptStream };

/** Creates the product of transcripts: bounded and metered by the duration of the file. */
export const transcriptionProduct = ({
  rails,
}: Pick<BuyDeps<TranscriptionRail>, 'rails'>): Product<
  TranscriptionBody,
  Sound,
  TranscriptionRail,
  Transcript
> => ({
  modality: 'stt',
  rails,
  async quote({ body: { file, request } }, choice) {
    const { model } = choice;
    const sound = { durationMs: await file.durationMs(), prompt: request.prompt };
    const offers = planOffers(
      choice,
      (source) => transcriptionBoundRaw(sound, source),
      (source) => rails.railOf(source),
    );
    return { model, bound: sound, offers: requireOffers(model, offers) };
  },
  async attempt({ body: { request }, buyer, quote }, offer, paymentMethod) {
    const { signal, spender } = buyer;
    // Fallbacks come here as well: when the client has left, no further vendor gets the request.
    if (signal.aborted) return { kind: 'aborted' };
    const { rail, source } = offer;
    if (wantsRedaction(request) && rail.speaksListen !== true) return NOT_REDACTED;
    const file = { ...request.file, durationMs: quote.bound.durationMs };
    const { agentId } = spender;
    const call = { ...request, agentId, file, model: source.upstreamModel, paymentMethod };
    const ordered = orderSignal(offer, signal);
    return request.stream ? rail.stream(call, ordered) : rail.transcribe(call, ordered);
  },
  meter({ quote }, answer, source) {
    const reported = 'stream' in answer ? answer.stream.metered() : answer.usage;
    return meterTranscription(quote.bound, reported, source);
  },
});

/** Returns true when the request asks for redaction. Such a caller must not get unredacted words. */
const wantsRedaction = ({ listen }: TranscriptionRequest): boolean =>
  listen?.options.some(([name, value]) => name === 'redact' && value !== 'false') ?? false;

const NOT_REDACTED = Promise.resolve({
  kind: 'unfit',
  detail: 'Nothing is redacted here.',
  param: 'redact',
} as const);

async function probe(bytes: Buffer): Promise<number> {
  const probed = await probeDuration(bytes);
  if (probed.kind === 'refused') throw gatewayErrors.invalidRequest(probed.reason, 'file');
  return probed.durationMs;
}
