import { anyTexts, type Candidate, fitTexts, shapedTexts } from './fit-words.ts';
import { findFormat } from './formats.ts';
import { charsOf } from './json-value.ts';
import type { QuestionWords } from './question-words.ts';
import type { SchemaRoot } from './schema-root.ts';
import { boundOf, type SchemaWorld } from './schema-world.ts';
import { writePattern } from './write-pattern.ts';

/** Texts that see all that a pattern may look ahead for. */
const RICH = ['Aa1!Aa1!', 'Aa1!Aa1!Aa1!Aa1!', 'aA1_aA1_', 'Aa1@', 'abc123', 'ABC123'];
const MOST_VARIANTS = 64;
const MOST_NUMBERED = 5_000;
/** What looking through a question for one text is worth in steps. */
const STEPS = 8;

/** Texts that may be in a world, those first that a question has for a member of this name. */
export function* textsOf(
  root: SchemaRoot,
  world: SchemaWorld,
  {
    examples,
    name,
    words,
  }: {
    readonly name: string;
    readonly words: QuestionWords;
    /** What the schemas give as such. */
    readonly examples: readonly Candidate[];
  },
): Generator<Candidate> {
  const formats = world.schemas.flatMap(({ format }) => findFormat(format) ?? []);
  const patterns = world.schemas.flatMap(({ pattern }) =>
    typeof pattern === 'string' ? [pattern] : [],
  );
  root.work.spend(STEPS);
  const fits = fitTexts(words, name);
  if (formats.length > 0 || patterns.length > 0) {
    yield* fits;
    yield* shapedTexts(words);
    yield* examples;
    for (const format of formats) yield* format.samples(words).map(plain);
    for (const pattern of patterns) yield* patternTexts(root, world, pattern);
    if (patterns.length > 0) yield* RICH.map(plain);
    if (patterns.length > 1) return;
  }
  const sizes = sizesOf(world);
  for (const fit of fits) yield { ...fit, value: sized(root, String(fit.value), sizes) };
  yield* examples;
  for (const fit of anyTexts(words)) {
    yield { ...fit, value: sized(root, String(fit.value), sizes) };
  }
  for (let i = 1; i <= MOST_NUMBERED; i++) {
    const text = i === 1 ? 'text' : `${i} text`;
    yield plain(sized(root, text, sizes));
  }
}

const plain = (value: string): Candidate => ({ value, isMeant: false });

type Sizes = { readonly least: number; readonly most: number };

const sizesOf = (world: SchemaWorld): Sizes => ({
  least: boundOf(world, 'minLength', 'greatest') ?? 0,
  most: boundOf(world, 'maxLength', 'least') ?? Number.POSITIVE_INFINITY,
});

/** A text cut or repeated to the size that is wanted. */
function sized(root: SchemaRoot, text: string, { least, most }: Sizes): string {
  const chars = charsOf(text);
  if (chars > most) return [...text].slice(0, most).join('').trimEnd().padEnd(least, '.');
  if (chars >= least) return text;
  root.work.write(least);
  const whole = `${text} `.repeat(Math.ceil(least / (chars + 1)));
  return [...whole].slice(0, least).join('').replace(/ $/, '.');
}

/** Texts that a pattern describes: each way through it, and longer ones up to the size that is wanted. */
function* patternTexts(root: SchemaRoot, world: SchemaWorld, source: string): Generator<Candidate> {
  const pattern = root.pattern(source);
  const { least, most } = sizesOf(world);
  root.work.write(least);
  for (const more of new Set([0, 1, least])) {
    for (let variant = 0; variant < MOST_VARIANTS; variant++) {
      const text = writePattern(pattern, { variant, more }, root.work);
      if (text === undefined || charsOf(text) > most) continue;
      yield plain(text);
      // An open end takes anything behind it, and an open beginning before it.
      if (charsOf(text) < least) {
        yield plain(text.padEnd(least, 'a'));
        yield plain(text.padStart(least, 'a'));
      }
    }
  }
  const shortest = writePattern(pattern, { variant: 0, more: 0 }, root.work) ?? '';
  for (let i = 1; i <= MOST_VARIANTS; i++) yield plain(`${shortest}${i}`);
}
