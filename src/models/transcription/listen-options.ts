import type { Catalogue } from '../catalogue/catalogue.ts';
import type { Unfit } from '../providers/outcome.ts';

/** Names and values in their order. A name may occur more than once. */
type Options = readonly (readonly [name: string, value: string])[];

/** Options of a live transcription that the price of its seconds includes. */
const INCLUDED: ReadonlySet<string> = new Set([
  'interim_results',
  'vad_events',
  'endpointing',
  'utterance_end_ms',
  'no_delay',
  'version',
  'punctuate',
  'smart_format',
  'numerals',
  'measurements',
  'dictation',
  'filler_words',
  'profanity_filter',
  'replace',
  'search',
  'keywords',
  'eot_threshold',
  'eager_eot_threshold',
  'eot_timeout_ms',
  'language_hint',
]);

/** Options of the transcription of a file that the price of its seconds includes. */
const INCLUDED_OF_FILES: ReadonlySet<string> = new Set([
  'punctuate',
  'smart_format',
  'numerals',
  'measurements',
  'dictation',
  'filler_words',
  'profanity_filter',
  'replace',
  'search',
  'keywords',
  'version',
  'detect_language',
  'utterances',
  'utt_split',
  'paragraphs',
]);

/**
 * Options that the upstream bills separately. They are available only with a provider key of the caller's own; without such a
 * key the request is refused.
 */
const BILLED_APART: ReadonlySet<string> = new Set([
  'diarize',
  'diarize_model',
  'keyterm',
  'redact',
  'detect_entities',
  'sentiment',
  'intents',
  'topics',
  'summarize',
  'mip_opt_out',
]);

/**
 * Returns the options to send upstream for live audio: all requested options with the caller's own key, else those that the
 * price includes. Unfit when an option would be billed to this server.
 */
export const listenOptions = (asked: Options, isOwnKey: boolean): FitOptions | Unfit =>
  optionsWithin(INCLUDED, asked, isOwnKey);

/**
 * Returns the options to send upstream for a file: all requested options with the caller's own key, else those that the price
 * includes. Unfit when an option would be billed to this server.
 */
export const fileOptions = (asked: Options, isOwnKey: boolean): FitOptions | Unfit =>
  optionsWithin(INCLUDED_OF_FILES, asked, isOwnKey);

type FitOptions = { readonly kind: 'fit'; readonly options: Options };

function optionsWithin(
  included: ReadonlySet<string>,
  asked: Options,
  isOwnKey: boolean,
): FitOptions | Unfit {
  if (isOwnKey) return { kind: 'fit', options: asked };
  const isWished = ([name, value]: Options[number]) => BILLED_APART.has(name) && value !== 'false';
  const apart = asked.find(isWished)?.[0];
  if (apart !== undefined) {
    const detail = `"${apart}" is billed apart by the upstream and needs a key of your own there.`;
    return { kind: 'unfit', detail, param: apart };
  }
  return { kind: 'fit', options: asked.filter(([name]) => included.has(name)) };
}

const SEVERAL = '-multilingual';

/**
 * Returns the model and the language of a request. A model has another price for several languages at once (`multi`), and
 * therefore another id here, although the vendor has one model for both.
 */
export function spokenModel(
  catalogue: Pick<Catalogue, 'find' | 'findKeyed'>,
  id: string,
  language: string | undefined,
): { readonly id: string; readonly language: string | undefined } {
  const isSeveral = language?.toLowerCase() === 'multi';
  const asked = isSeveral ? 'multi' : language || undefined;
  const several = `${id}${SEVERAL}`;
  const isKnown = (catalogue.find(several) ?? catalogue.findKeyed(several)) !== undefined;
  if (asked === 'multi' && isKnown) return { id: several, language: asked };
  return { id, language: asked ?? (id.endsWith(SEVERAL) ? 'multi' : undefined) };
}
