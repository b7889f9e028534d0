import type { SpeechRail } from '../providers/speech-rail.ts';
import type { Relayed } from '../purchase/answer.ts';
import type { StreamedAnswer } from '../purchase/answer-events.ts';
import { type BuyDeps, buy } from '../purchase/buy.ts';
import type { Buyer } from '../purchase/buyer.ts';
import { deliverSpeech } from './deliver-speech.ts';
import { speechProduct } from './speech-product.ts';
import type { SpeechRequest } from './speech-request.ts';

export interface SpeechSynthesis {
  /**
   * Returns audio that is still arriving. Throws the gateway's refusals; nothing was charged then, unless the refusal names a
   * charge.
   */
  speak(purchase: {
    readonly buyer: Buyer;
    readonly body: SpeechRequest;
  }): Promise<Relayed | StreamedAnswer>;
}

/** Creates the purchase of speech: from the cheapest source that makes the format, charged by the characters of the text. */
export function createSpeechSynthesis(deps: BuyDeps<SpeechRail>): SpeechSynthesis {
  const product = speechProduct(deps);
  return {
    async speak({ body, buyer }) {
      const bought = await buy(deps, product, buyer, { model: body.model, body });
      if (bought.kind === 'not_delivered') return bought.answer;
      return deliverSpeech({ log: deps.log, signal: buyer.signal }, body, bought);
    },
  };
}
