import { probeDuration } from '../../../media/duration/probe-duration.ts';
import { requireOffers } from '../catalogue/require-model.ts';
import { gatewayErrors } from '../errors.ts';
import type {
  TranscriptionAnswer,
  TranscriptionRail,
  TranscriptStream,
} from '../providers/transcription-rail.ts';
import { answerWhole, type Relayed } from '../purchase/answer.ts';
import { answerEvents, type StreamedAnswer } from '../purchase/answer-events.ts';
import { type BuyDeps, buy } from '../purchase/buy.ts';
import type { Buyer } from '../purchase/buyer.ts';
import type { PurchaseRequest } from '../purchase/order.ts';
import { orderSignal } from '../purchase/order-signal.ts';
import { planOffers } from '../routing/plan-offers.ts';
import { spokenModel } from './listen-options.ts';
import type { TranscriptionRequest } from './transcription-request.ts';
import { meterTranscription, transcriptionBoundRaw } from './transcription-usage.ts';

type TranscriptionPurchase = {
  readonly buyer: Buyer;
  readonly request: TranscriptionRequest;
};

export interface Transcriptions {
  /**
   * Transcribes a file, whole or as a stream if the request asks for one. A client that leaves after a vendor began to work on
   * this server's account pays for the vendor's whole delivery. Throws the gateway's refusals; then nothing is charged except a
   * payment that the refusal names.
   */
  transcribe(purchase: TranscriptionPurchase): Promise<Relayed | StreamedAnswer>;
}

/**
 * Creates the purchase of transcripts of whole files, charged per second of audio. The duration is measured before the hold.
 */
export function createTranscriptions(deps: BuyDeps<TranscriptionRail>): Transcriptions {
  return {
    async transcribe({ buyer, request }) {
      const { id: model, language } = spokenModel(deps.catalogue, request.model, request.language);
      const wanted = wantedOf(deps.rails, { ...request, model, language }, buyer);
      const bought = await buy(deps, buyer, wanted);
      if (bought.kind === 'unsold') return bought.answer;
      const { outcome } = bought;
      return 'stream' in outcome
        ? answerEvents(deps, bought, outcome.stream)
        : answerWhole(bought, outcome);
    },
  };
}

type Transcript = TranscriptionAnswer | { readonly stream: TranscriptStream };

function wantedOf(
  rails: BuyDeps<TranscriptionRail>['rails'],
  request: TranscriptionRequest,
  { signal, spender }: Buyer,
): PurchaseRequest<TranscriptionRail, Transcript> {
  let probing: Promise<number> | undefined;
  return {
    modelId: request.model,
    modality: 'stt',
    async orderOf(sellers) {
      const { model } = sellers;
      // The file is read once, and only when a source could transcribe it.
      probing ??= probe(request.file.bytes);
      const durationMs = await probing;
      const file = { ...request.file, durationMs };
      const sound = { durationMs, prompt: request.prompt };
      const offers = planOffers(
        sellers,
        (source) => transcriptionBoundRaw(sound, source),
        (source) => rails.railOf(source),
      );
      return {
        model,
        offers: requireOffers(model, offers),
        async ask(offer, _heldRaw, paymentMethod) {
          // Fallbacks come here as well: when the client has left, no further vendor gets the request.
          if (signal.aborted) return { kind: 'aborted' };
          const { rail, source } = offer;
          const { agentId } = spender;
          if (wantsRedaction(request) && rail.speaksListen !== true) return NOT_REDACTED;
          const call = { ...request, agentId, file, model: source.upstreamModel, paymentMethod };
          const ordered = orderSignal(offer, signal);
          return request.stream ? rail.stream(call, ordered) : rail.transcribe(call, ordered);
        },
        meter: (answer, source) => {
          const reported = 'stream' in answer ? answer.stream.metered() : answer.usage;
          return meterTranscription(sound, reported, source);
        },
      };
    },
  };
}

/** Returns true when the request asks for redaction. Such a caller must not get unredacted words. */
const wantsRedaction = ({ listen }: TranscriptionRequest): boolean =>
  listen?.options.some(([name, value]) => name === 'redact' && value !== 'false') ?? false;

const NOT_REDACTED = Promise.resolve({
  kind: 'unfit',
  detail: 'Nothing is redacted here.',
  param: 'redact',
} as const);

/** Returns the milliseconds of audio in a file. Throws the refusal of a file without audio. */
async function probe(bytes: Buffer): Promise<number> {
  const probed = await probeDuration(bytes);
  if (probed.kind === 'refused') throw gatewayErrors.invalidRequest(probed.reason, 'file');
  return probed.durationMs;
}
