import type { Spender } from '../ledger/ledger.ts';
import type { Speech, SpeechRail } from '../rails/speech-rail.ts';
import type { Catalogue } from './catalogue.ts';
import { deliverSpeech } from './deliver-speech.ts';
import { planSpeech } from './plan-speech.ts';
import { type Order, type PurchaseDeps, purchase, type Relayed } from './purchase.ts';
import { requireModel } from './require-model.ts';
import type { SpeechRails } from './speech-rails.ts';
import type { SpeechRequest } from './speech-request.ts';
import { billsTokens } from './speech-usage.ts';
import type { StreamedAnswer } from './stream-chat.ts';

export interface SpeechSynthesis {
  /** Answers with sound that is still coming. Throws the gateway's refusals; whatever it throws, nothing was charged. */
  speak(purchase: {
    readonly spender: Spender;
    readonly body: SpeechRequest;
    /** Becomes the id of the hold. */
    readonly workId?: string | undefined;
    /** Fires when the client leaves. */
    readonly signal: AbortSignal;
  }): Promise<Relayed | StreamedAnswer>;
}

/** Buys speech: from the cheapest source that makes the format, charged by the characters of its text. */
export function createSpeechSynthesis(
  deps: PurchaseDeps & { readonly catalogue: Catalogue; readonly rails: SpeechRails },
): SpeechSynthesis {
  return {
    async speak({ spender, body, workId, signal }) {
      const model = requireModel(deps.catalogue, body.model, 'tts');
      const { format, offers } = planSpeech(deps.rails, model, body);
      const inEvents = body.stream_format === 'sse';
      const order: Order<SpeechRail, Speech> = {
        ...{ spender, model, workId, offers },
        ask({ rail, source }) {
          const wantsUsage = inEvents && billsTokens(source);
          const { upstreamModel } = source;
          const { input } = body;
          return rail.speak({ model: upstreamModel, body, input, format, wantsUsage }, signal);
        },
      };
      return purchase(deps, order, (bought) => deliverSpeech({ ...deps, signal }, body, bought));
    },
  };
}
