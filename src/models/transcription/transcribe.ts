import { probeDuration } from '../../../media/probe-duration.ts';
import { assert } from '../../kernel/assert.ts';
import { errors } from '../../kernel/errors.ts';
import { requireOffers } from '../catalogue/require-model.ts';
import { deliverEvents, type StreamedAnswer } from '../chat/stream-chat.ts';
import type { Outcome } from '../providers/outcome.ts';
import type { TranscriptionCall, TranscriptionRail } from '../providers/transcription-rail.ts';
import { type BuyDeps, buy, type PurchaseRequest } from '../purchase/buy.ts';
import type { Buyer } from '../purchase/buyer.ts';
import { deliverWhole } from '../purchase/deliver-whole.ts';
import type { Relayed } from '../purchase/purchase.ts';
import { planOffers } from '../routing/plan-offers.ts';
import type { TranscriptionRequest } from './transcription-request.ts';
import { meterTranscription, transcriptionBoundRaw } from './transcription-usage.ts';

type TranscriptionPurchase = {
  readonly buyer: Buyer;
  readonly request: TranscriptionRequest;
};

export interface Transcriptions {
  /** Throws the gateway's refusals. Nothing was charged then, but a payment that the refusal names. */
  transcribe(purchase: TranscriptionPurchase): Promise<Relayed>;
  /** The same for a transcript that is relayed while it comes. */
  stream(purchase: TranscriptionPurchase): Promise<Relayed | StreamedAnswer>;
}

/** Buys transcripts of whole files by the second of sound, which is counted in the file before anything is held. */
export function createTranscriptions(deps: BuyDeps<TranscriptionRail>): Transcriptions {
  return {
    async transcribe(purchase) {
      const { buyer } = purchase;
      const sound = probeOnce(purchase);
      const wanted = wantedOf(deps, purchase, sound, (rail, call) =>
        rail.transcribe(call, buyer.signal),
      );
      return buy(deps, buyer, wanted, (bought) =>
        deliverWhole(
          bought,
          meterTranscription(sound.found(), bought.outcome.usage, bought.source),
        ),
      );
    },
    async stream(purchase) {
      const { buyer } = purchase;
      const sound = probeOnce(purchase);
      const wanted = wantedOf(deps, purchase, sound, (rail, call) =>
        rail.stream(call, buyer.signal),
      );
      return buy(deps, buyer, wanted, (bought) => {
        const { outcome, source } = bought;
        const meter = () => meterTranscription(sound.found(), outcome.stream.metered(), source);
        return deliverEvents(deps, bought, meter);
      });
    },
  };
}

type Probe = {
  run(): Promise<Sound>;
  /** What it found; only what was bought after it ran is metered. */
  found(): Sound;
};

type Sound = { readonly durationMs: number; readonly prompt: string | undefined };

/** Reads the file when it is known that a source could transcribe it. Throws the refusal of one that is no sound. */
function probeOnce({ request: { file, prompt } }: TranscriptionPurchase): Probe {
  let sound: Sound | undefined;
  return {
    async run() {
      if (sound !== undefined) return sound;
      const probed = await probeDuration(file.bytes);
      if (probed.kind === 'refused') throw errors.gateway.invalidRequest(probed.reason, 'file');
      sound = { durationMs: probed.durationMs, prompt };
      return sound;
    },
    found() {
      assert(sound !== undefined, 'a transcript is bought of a file that was probed');
      return sound;
    },
  };
}

function wantedOf<T>(
  { rails }: BuyDeps<TranscriptionRail>,
  { request, buyer: { spender, workId } }: TranscriptionPurchase,
  probe: Probe,
  ask: (rail: TranscriptionRail, call: TranscriptionCall) => Promise<Outcome<T>>,
): PurchaseRequest<TranscriptionRail, T> {
  return {
    modelId: request.model,
    modality: 'stt',
    async orderOf(sellers) {
      const { model } = sellers;
      const sound = await probe.run();
      const file = { ...request.file, durationMs: sound.durationMs };
      const offers = planOffers(
        sellers,
        (source) => transcriptionBoundRaw(sound, source),
        (source) => rails.railOf(source),
      );
      return {
        spender,
        model,
        workId,
        offers: requireOffers(model, offers),
        ask: ({ rail, source }, _heldRaw, paymentMethod) =>
          ask(rail, {
            ...request,
            agentId: spender.agentId,
            file,
            model: source.upstreamModel,
            paymentMethod,
          }),
      };
    },
  };
}
