import { requireOffers } from '../catalogue/require-model.ts';
import { gatewayErrors } from '../errors.ts';
import { SPEECH_FORMATS, type SpeechFormat, type SpeechRail } from '../providers/speech-rail.ts';
import type { ModelSources } from '../routing/keyed-sources.ts';
import type { Rails } from '../routing/open-rails.ts';
import { type Offers, planOffers } from '../routing/plan-offers.ts';
import type { SpeechRequest } from './speech-request.ts';
import { speechBoundRaw } from './speech-usage.ts';

/** Formats to try, in this order, when the caller names none: OpenAI's default, then a format without an encoder. */
const UNNAMED: readonly SpeechFormat[] = ['mp3', 'wav'];

/**
 * Chooses the format of the speech and the sources that can make it; others are passed over. Throws a refusal with the
 * available formats when no source can.
 */
export function planSpeech(
  rails: Pick<Rails<SpeechRail>, 'railOf'>,
  sellers: ModelSources,
  request: SpeechRequest,
): { readonly format: SpeechFormat; readonly offers: Offers<SpeechRail> } {
  const { model } = sellers;
  const asked = request.response_format ?? undefined;
  const open = planOffers(
    sellers,
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
