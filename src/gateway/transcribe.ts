import { probeDuration } from '../../media/probe-duration.ts';
import { refuse } from '../kernel/refuse.ts';
import type { Spender } from '../ledger/ledger.ts';
import type { Outcome } from '../rails/outcome.ts';
import type {
  TranscriptionAnswer,
  TranscriptionCall,
  TranscriptionRail,
} from '../rails/transcription-rail.ts';
import type { Catalogue } from './catalogue.ts';
import { planOffers } from './plan-offers.ts';
import {
  type Bought,
  type Order,
  type PurchaseDeps,
  purchase,
  type Relayed,
  relay,
} from './purchase.ts';
import { receiptHeaders } from './receipt.ts';
import { requireModel, requireOffers } from './require-model.ts';
import { deliverEvents, type StreamedAnswer } from './stream-chat.ts';
import type { TranscriptionRails } from './transcription-rails.ts';
import type { TranscriptionRequest } from './transcription-request.ts';
import { meterTranscription, transcriptionBoundRaw } from './transcription-usage.ts';

type TranscriptionPurchase = {
  readonly spender: Spender;
  readonly request: TranscriptionRequest;
  /** Becomes the id of the hold. */
  readonly workId?: string | undefined;
  /** Fires when the client leaves. */
  readonly signal: AbortSignal;
};

export interface Transcriptions {
  /** Throws the gateway's refusals; whatever it throws, nothing was charged. */
  transcribe(purchase: TranscriptionPurchase): Promise<Relayed>;
  /** The same for a transcript that is relayed while it comes. */
  stream(purchase: TranscriptionPurchase): Promise<Relayed | StreamedAnswer>;
}

export type TranscriptionsDeps = PurchaseDeps & {
  readonly catalogue: Catalogue;
  readonly rails: TranscriptionRails;
};

/** Buys transcripts of whole files by the second of sound, which is counted in the file before anything is held. */
export function createTranscriptions(deps: TranscriptionsDeps): Transcriptions {
  return {
    async transcribe(wish) {
      const { order, sound } = orderOf(deps, wish, (rail, call) =>
        rail.transcribe(call, wish.signal),
      );
      return purchase(deps, order, (bought) => deliverWhole(sound, bought));
    },
    async stream(wish) {
      const { order, sound } = orderOf(deps, wish, (rail, call) => rail.stream(call, wish.signal));
      return purchase(deps, order, (bought) => {
        const { outcome, source } = bought;
        const meter = () => meterTranscription(sound, outcome.stream.metered(), source);
        return deliverEvents(deps, bought, meter);
      });
    },
  };
}

type Sound = { readonly durationMs: number; readonly prompt: string | undefined };

function orderOf<T>(
  { catalogue, rails }: TranscriptionsDeps,
  { request, spender, workId }: TranscriptionPurchase,
  ask: (rail: TranscriptionRail, call: TranscriptionCall) => Promise<Outcome<T>>,
): { readonly order: Order<TranscriptionRail, T>; readonly sound: Sound } {
  const model = requireModel(catalogue, request.model, 'stt');
  const probed = probeDuration(request.file.bytes);
  if (probed.kind === 'refused') throw refuse.gateway.invalidRequest(probed.reason, 'file');

  const { durationMs } = probed;
  const sound = { durationMs, prompt: request.prompt };
  const offers = planOffers(
    model,
    (source) => transcriptionBoundRaw(sound, source),
    (source) => rails.railOf(source),
  );
  const file = { ...request.file, durationMs };
  const order: Order<TranscriptionRail, T> = {
    ...{ spender, model, workId, offers: requireOffers(model, offers) },
    ask: ({ rail, source }) => ask(rail, { ...request, file, model: source.upstreamModel }),
  };
  return { order, sound };
}

async function deliverWhole(sound: Sound, bought: Bought<TranscriptionAnswer>): Promise<Relayed> {
  const { outcome, served, source, upstreamMs } = bought;
  const settled = await bought.settle(meterTranscription(sound, outcome.usage, source));
  return relay(outcome, receiptHeaders({ ...served, ...settled }), upstreamMs);
}
