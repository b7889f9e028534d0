import { wordsOf } from '../../engines/text/words.ts';
import { splitSpeech } from '../../engines/tts/split-speech.ts';
import { MEMORY_LIMITS } from '../limits.ts';
import type { ItemType } from '../memory-shape.ts';

export type SplitItem = {
  readonly type: ItemType;
  readonly text: string;
  readonly infer: boolean;
  readonly title: string | null;
};

const { chunkChars, chunks: chunksPerItem } = MEMORY_LIMITS.item;
const { perItem: factsPerItem } = MEMORY_LIMITS.facts;

/**
 * Returns the pieces by which an item is found, always the same for the same item: a memory whole, or cut when it is long; with
 * `infer` each fact; of a document its paragraphs. A piece is one line, after a document's title. Never empty.
 */
export function splitItem({ infer, text, title, type }: SplitItem): string[] {
  if (type === 'knowledge') {
    const pieces = joined(paragraphs(text), chunksPerItem);
    return pieces.map((piece) => (title === null ? piece : `${piece}\n${oneLine(title)}`));
  }
  return infer ? joined(factsIn(text), factsPerItem) : joined(pieces(text), chunksPerItem);
}

const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim();

const pieces = (text: string): string[] => {
  const whole = oneLine(text);
  if (whole.length <= chunkChars) return [whole];
  const parts = splitSpeech(whole, { firstChars: chunkChars, chars: chunkChars });
  // A text without a letter or digit cannot be spoken in parts, so its beginning is the one piece.
  return parts.length === 0 ? [whole.slice(0, chunkChars)] : packed(parts, chunkChars);
};

const paragraphs = (text: string): string[] =>
  text
    .split(/\n\s*\n/)
    .filter((part) => part.trim() !== '')
    .flatMap(pieces);

/** Joins neighbours that together have at most `chars` characters. Any two that follow each other are longer together. */
function packed(parts: readonly string[], chars: number): string[] {
  const all: string[] = [];
  for (const part of parts) {
    const last = all.at(-1);
    if (last !== undefined && last.length + part.length < chars) {
      all[all.length - 1] = `${last} ${part}`;
    } else {
      all.push(part);
    }
  }
  return all;
}

/**
 * Returns at most `most` parts. Beyond that neighbours are joined, up to twice the length of equal parts: some thousand
 * characters for the longest text, far fewer than an engine embeds.
 */
function joined(parts: readonly string[], most: number): string[] {
  if (parts.length <= most) return [...parts];
  const chars = parts.reduce((sum, { length }) => sum + length + 1, 0);
  return packed(parts, Math.ceil((2 * chars) / (most - 1)));
}

/** Words without meaning of their own. A sentence of only such words is not a fact. */
const FILLER = new Set(
  `a ah alright and anyway bye cheers cool course day dear er fine good goodbye great haha have hello hey hi hmm how
  i im is it just lol maybe much nice no of oh ok okay please pleasure really right see so sorry sounds sure thank
  thanks that thats the then there to today uh um very wait welcome well what whats wow yeah yep yes you your youre
  are do doing afternoon evening morning night later soon lot all everyone everybody there again`.split(
    /\s+/,
  ),
);
/** Matches opening words, which end with a mark and a space. The "no" of "no-code" and of "No. 5" does not match. */
const OPENING =
  /^(?:(?:hi|hello|hey|oh|ah|ok|okay|well|so|um|uh|hmm|yeah|yes|no|sure|thanks|thank you|please|anyway|by the way|fyi)(?:\s+(?:there|again|everyone|all))?(?:\s*[,!.:;—–]+|\s+-+)(?:\s+|$)(?!\d))+/i;

/**
 * Returns the sentences of a text that carry information, without their opening filler words. Returns the whole text when no
 * sentence does.
 */
function factsIn(text: string): string[] {
  const sentences = text
    .split(/\n+/)
    .flatMap((part) => splitSpeech(oneLine(part), { firstChars: chunkChars, chars: chunkChars }))
    .reduce(goingOn, []);
  const seen = new Set<string>();
  const facts = sentences.map(stripped).filter((sentence) => {
    const words = wordsOf(sentence);
    const key = words.join(' ');
    if (words.every((word) => FILLER.has(word)) || seen.has(key)) return false;
    seen.add(key);
    return true;
  });
  return facts.length === 0 ? pieces(text) : facts;
}

/** Joins a sentence that begins with a small letter to the one before, whose full stop was that of an abbreviation. */
function goingOn(sentences: string[], next: string): string[] {
  const last = sentences.at(-1);
  const whole = `${last ?? ''} ${next}`;
  if (last?.endsWith('.') === true && /^\p{Ll}/u.test(next) && whole.length <= chunkChars) {
    sentences[sentences.length - 1] = whole;
  } else {
    sentences.push(next);
  }
  return sentences;
}

function stripped(sentence: string): string {
  const rest = sentence.replace(OPENING, '').trim();
  if (rest === '') return sentence;
  // A word such as "iPhone" keeps its lower-case first letter.
  return /^\p{Ll}+(?!\p{Lu})\b/u.test(rest) ? rest.charAt(0).toUpperCase() + rest.slice(1) : rest;
}
