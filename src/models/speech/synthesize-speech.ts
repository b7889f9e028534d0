import type { StreamedAnswer } from '../chat/stream-chat.ts';
import type { SpeechRail } from '../providers/speech-rail.ts';
import { type BuyDeps, buy } from '../purchase/buy.ts';
import type { Buyer } from '../purchase/buyer.ts';
import type { Relayed } from '../purchase/purchase.ts';
import { deliverSpeech } from './deliver-speech.ts';
import { planSpeech } from './plan-speech.ts';
import type { SpeechRequest } from './speech-request.ts';
import { billsTokens } from './speech-usage.ts';

export interface SpeechSynthesis {
  /**
   * Answers with sound that is still coming. Throws the gateway's refusals. Nothing was charged then, but what a refusal
   * tells to look up.
   */
  speak(purchase: {
    readonly buyer: Buyer;
    readonly body: SpeechRequest;
  }): Promise<Relayed | StreamedAnswer>;
}

/** Buys speech: from the cheapest source that makes the format, charged by the characters of its text. */
export function createSpeechSynthesis(deps: BuyDeps<SpeechRail>): SpeechSynthesis {
  return {
    speak({ body, buyer }) {
      const { signal, spender, workId } = buyer;
      const inEvents = body.stream_format === 'sse';
      return buy(
        deps,
        buyer,
        {
          modelId: body.model,
          modality: 'tts',
          orderOf(sellers) {
            const { model } = sellers;
            const { format, offers } = planSpeech(deps.rails, sellers, body);
            return {
              spender,
              model,
              workId,
              offers,
              ask({ rail, source }, _heldRaw, paymentMethod) {
                const wantsUsage = inEvents && billsTokens(source);
                const { input } = body;
                const call = {
                  agentId: spender.agentId,
                  model: source.upstreamModel,
                  body,
                  input,
                  format,
                  wantsUsage,
                  paymentMethod,
                };
                return rail.speak(call, signal);
              },
            };
          },
        },
        (bought) => deliverSpeech({ ...deps, signal }, body, bought),
      );
    },
  };
}
