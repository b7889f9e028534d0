import type { TranscriptionRail } from '../providers/transcription-rail.ts';
import { answerWhole, type Relayed } from '../purchase/answer.ts';
import { answerEvents, type StreamedAnswer } from '../purchase/answer-events.ts';
import { type BuyDeps, buy } from '../purchase/buy.ts';
import type { Buyer } from '../purchase/buyer.ts';
import { spokenModel } from './listen-options.ts';
import { SoundFile, transcriptionProduct } from './transcription-product.ts';
import type { TranscriptionRequest } from './transcription-request.ts';

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
  const product = transcriptionProduct(deps);
  return {
    async transcribe({ buyer, request }) {
      const { id: model, language } = spokenModel(deps.catalogue, request.model, request.language);
      const body = { request: { ...request, model, language }, file: new SoundFile(request.file) };
      const bought = await buy(deps, product, buyer, { model, body });
      if (bought.kind === 'not_delivered') return bought.answer;
      const { outcome } = bought;
      return 'stream' in outcome
        ? answerEvents(deps, bought, outcome.stream)
        : answerWhole(bought, outcome);
    },
  };
}
