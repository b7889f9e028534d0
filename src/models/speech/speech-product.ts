import { requireOffers } from '../catalogue/require-model.ts';
import { gatewayErrors } from '../errors.ts';
import {
  SPEECH_FORMATS,
  type Speech,
  type SpeechFormat,
  type SpeechRail,
} from '../providers/speech-rail.ts';
import type { BuyDeps } from '../purchase/buy.ts';
import type { Product } from '../purchase/product.ts';
import type { ModelSources } from '../routing/keyed-sources.ts';
import type { Rails } from '../routing/open-rails.ts';
import { type Offers, planOffers } from '../routing/plan-offers.ts';
import type { SpeechRequest } from './speech-request.ts';
import { billsTokens, meterSpeech, speechBoundRaw } from './speech-usage.ts';

/** Creates the product of speech, from the sources that make the format: bounded and metered by the text. */
export const speechProduct = ({
  rails,
}: Pick<BuyDeps<SpeechRail>, 'rails'>): Product<
  SpeechRequest,
  SpeechFormat,
  SpeechRail,
  Speech
> => ({
  modality: 'tts',
  rails,
  quote({ body }, choice) {
    const { format, offers } = planSpeech(rails, choice, body);
    return { model: choice.model, bound: format, offers };
  },
  attempt({ body, buyer, quote }, { rail, source }, paymentMethod) {
    const call = {
      agentId: buyer.spender.agentId,
      model: source.upstreamModel,
      body,
      input: body.input,
      format: quote.bound,
      wantsUsage: body.stream_format === 'sse' && billsTokens(source),
      paymentMethod,
    };
    return rail.speak(call, buyer.signal);
  },
  meter: ({ body }, { sound }, source) => meterSpeech(body, sound.usage(), source),
});

/** Formats to try, in this order, when the caller names none: OpenAI's default, then a format without an encoder. */
const UNNAMED: readonly SpeechFormat[] = ['mp3', 'wav'];

/**
 * Chooses the format of the speech and the sources that can make it; others are passed over. Throws a refusal with the
 * available formats when no source can.
 */
function planSpeech(
  rails: Pick<Rails<SpeechRail>, 'railOf'>,
  choice: ModelSources,
  request: SpeechRequest,
): { readonly format: SpeechFormat; readonly offers: Offers<SpeechRail> } {
  const { model } = choice;
  const asked = request.response_format ?? undefined;
  const open = planOffers(
    choice,
    (source) => speechBoundRaw(request, source),
    (source) => rails.railOf(source),
  );
  for (const format of asked === undefined ? UNNAMED : [asked]) {
    const [first, ...rest] = open.filter(({ rail }) => rail.makes(format));
    if (first !== undefined) return { format, offers: [first, ...rest] };
  }
  const offers = requireOffers(model, open);
  const made = SPEECH_FORMATS.filter((format) => offers.some(({ rail }) => rail.makes(format)));
  throw gatewayErrors.invalidRequest(
    `"${model.id}" is not made as ${asked ?? UNNAMED.join(' or ')} here; it is as ${made.join(' and ')}.`,
    'response_format',
  );
}
