import { z } from 'zod';
import { EGRESS_LIMITS } from '../platform/egress/limits.ts';
import { MARKETPLACE_LIMITS } from './limits.ts';

const { mostTextChars, nameChars, optionChars, optionItems, options } = MARKETPLACE_LIMITS.request;

const Option = z.union([z.string().max(optionChars), z.number(), z.boolean()]);

const name = () => z.string().min(1).max(nameChars).nullish();
const words = () =>
  z
    .string()
    .min(1)
    // The vendor's own bound is checked in code points; an emoji is one code point, and counts as two here.
    .max(2 * mostTextChars);

/** Request body for speech from a text. */
const TtsBody = z.object({
  text: words(),
  voice: name(),
  model: name(),
  engine: name(),
  target_language_code: name(),
});

/** Request body for a transcript of a file. The file's duration is measured from its bytes. */
const SttBody = z.object({
  audioUrl: z
    .string()
    .max(EGRESS_LIMITS.address.urlChars)
    .refine((text) => URL.canParse(text), 'must be an absolute URL'),
  model: name(),
  language_code: name(),
  options: z
    .record(
      z.string().regex(/^[A-Za-z0-9_]{1,64}$/, 'must be the name of an option'),
      z.union([Option, z.array(Option).max(optionItems)]),
    )
    .refine((given) => Object.keys(given).length <= options, `must have at most ${options} options`)
    .nullish(),
});

const TranslateBody = z.object({
  input: words(),
  source_language_code: z.string().min(1).max(nameChars),
  target_language_code: z.string().min(1).max(nameChars),
  model: name(),
});

const TransliterateBody = TranslateBody.omit({ model: true });

const LidBody = z.object({ input: words() });

/** Shapes of the bodies of all services, by the service's word in the path. */
export const SERVICES = {
  tts: TtsBody,
  stt: SttBody,
  'stt-translate': SttBody,
  translate: TranslateBody,
  transliterate: TransliterateBody,
  lid: LidBody,
} as const;

export type ServiceName = keyof typeof SERVICES;

export const isService = (word: string): word is ServiceName => Object.hasOwn(SERVICES, word);

/** Parsed bodies of all services, as their callers write them. */
export type ServiceBodies = { readonly [S in ServiceName]: z.output<(typeof SERVICES)[S]> };
