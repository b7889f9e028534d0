import type { Catalogue } from '../catalogue/catalogue.ts';
import type { Unfit } from '../providers/outcome.ts';

/** Names and values, in their order; a name may come more than once. */
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

/** The same of a file. */
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
 * Options that the upstream bills apart. Only a provider key of the caller's own buys them; every other request for one is
 * refused.
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
 * The query of an upstream: of what was asked for all that its price includes, and everything where the buyer pays it
 * with a key of his own. Unfit: what it would bill this server for beside the seconds.
 */
export const listenOptions = (asked: Options, isOwnKey: boolean): FitOptions | Unfit =>
  optionsWithin(INCLUDED, asked, isOwnKey);

/** The same for a file that is heard as a whole. */
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
 * Several languages at once have a price of their own, and so are a model of their own here, where to its maker they
 * are one that is asked for `multi`.
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
