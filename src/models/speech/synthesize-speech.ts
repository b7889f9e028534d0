import type { Speech, SpeechRail } from '../providers/speech-rail.ts';
import type { Relayed } from '../purchase/answer.ts';
import type { StreamedAnswer } from '../purchase/answer-events.ts';
import { type BuyDeps, buy } from '../purchase/buy.ts';
import type { Buyer } from '../purchase/buyer.ts';
import type { PurchaseRequest } from '../purchase/order.ts';
import { deliverSpeech } from './deliver-speech.ts';
import { planSpeech } from './plan-speech.ts';
import type { SpeechRequest } from './speech-request.ts';
import { billsTokens, meterSpeech } from './speech-usage.ts';

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
  return {
    async speak({ body, buyer }) {
      const wanted = wantedOf(deps.rails, body, buyer);
      const bought = await buy(deps, buyer, wanted);
      if (bought.kind === 'unsold') return bought.answer;
      return deliverSpeech({ log: deps.log, signal: buyer.signal }, body, bought);
    },
  };
}

function wantedOf(
  rails: BuyDeps<SpeechRail>['rails'],
  body: SpeechRequest,
  { signal, spender }: Buyer,
): PurchaseRequest<SpeechRail, Speech> {
  return {
    modelId: body.model,
    modality: 'tts',
    orderOf(sellers) {
      const { format, offers } = planSpeech(rails, sellers, body);
      return {
        model: sellers.model,
        offers,
        ask({ rail, source }, _heldRaw, paymentMethod) {
          const call = {
            agentId: spender.agentId,
            model: source.upstreamModel,
            body,
            input: body.input,
            format,
            wantsUsage: body.stream_format === 'sse' && billsTokens(source),
            paymentMethod,
          };
          return rail.speak(call, signal);
        },
        meter: ({ sound }, source) => meterSpeech(body, sound.usage(), source),
      };
    },
  };
}
