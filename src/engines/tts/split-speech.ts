import { headOf } from '../../kernel/storable.ts';

/**
 * An end of a sentence: its mark, closing quotes, brackets or emphasis, and the space after. Chinese and Japanese marks
 * need no space. A run of marks is looked at from its first alone: a long one would otherwise be read to its end from each.
 */
const SENTENCE_END =
  /(?<![.!?…؟।])[.!?…؟।]+["'”’)\]*_~]*\s+|(?<![。！？｡])[。！？｡]+["'”’)）」』】*_]*\s*|\n+/g;
/** Text that ends with a sentence mark: a pause behind it ends the sentence. */
const FINISHED = /[.!?…؟।。！？｡]["'”’)\]）」』】*_~]*\s*$/;
/** Matches a text that ends in an abbreviation (title, saint, street, initial): its full stop ends no sentence. */
const ABBREVIATED =
  /(?:^|[\s("'“‘[*_])(?:Drs?|Mrs?|Ms|Mx|Profs?|St|Ste|Mt|Ft|Gen|Col|Capt|Lt|Sgt|Rev|Hon|Gov|Sen|Rep|Pres|vs|e\.g|i\.e|cf|[A-HJ-Z]|U\.[KNS])$/;
/** Abbreviations only when a number follows. */
const NUMBERED =
  /(?:^|[\s(])(?:[Nn]os?|[Ff]igs?|[Vv]ol|[Cc]h|pp?|approx|ca|Jan|Feb|Mar|Apr|Aug|Sept?|Oct|Nov|Dec)$/;
/** Abbreviations that end a sentence only when the next word begins with a capital letter. */
const EITHER =
  /(?:^|[\s(\d])(?:[aApP]\.[mM]|etc|[Ii]nc|Ltd|Co|Corp|[JS]r|Ave|Blvd|Rd|Ph\.D|approx|est|dept|min|hrs?)$/;
/** The number of a list item, when nothing else comes before its full stop. */
const LIST_NUMBER = /^\s*(?:[-*+•]\s+)?[*_]{0,2}\d{1,3}$/;
const SENTENCE_START = /^["'“‘([*_]*[\p{Lu}\p{Lo}]/u;
const ABBREVIATION_CHARS = 8;

/** Places where a long sentence may be cut, best first. */
const BREATHS = [/[;:]\s|[；：]/g, /[,)]\s|[—–，、]\s?/g, /\s/g];

/** A link of Markdown or a bare address, which must not be cut in the middle. */
const LINK = /\[[^\][\n]{1,300}\]\([^)\s]{0,2000}\)?|https?:\/\/[^\s)]{1,2000}/g;
/** A link whose end has not come is waited for up to this length. */
const MOST_LINK_CHARS = 2_400;

export type SplitBounds = {
  readonly firstChars: number;
  readonly chars: number;
  /** Links stay whole, though they may be longer than the bounds. */
  readonly keepsLinks?: boolean;
};

/**
 * Cuts text into chunks that are spoken in one breath: sentences; long sentences at clauses, at words, or as a last resort
 * anywhere. Only space between chunks and chunks without a letter or digit are lost.
 */
export function splitSpeech(text: string, bounds: SplitBounds): string[] {
  const chunks: string[] = [];
  for (const sentence of sentencesOf(text)) {
    let rest = sentence.trim();
    while (rest !== '') {
      const chars = chunks.length === 0 ? bounds.firstChars : bounds.chars;
      const cut = rest.length <= chars ? rest.length : breath(rest, chars, bounds);
      const chunk = rest.slice(0, cut).trim();
      if (/[\p{L}\p{N}]/u.test(chunk)) chunks.push(chunk);
      rest = rest.slice(cut).trim();
    }
  }
  return chunks;
}

/**
 * Cuts text that is still being written, as `splitSpeech` does. A sentence is returned as soon as text follows it, a sentence
 * without an end as soon as it is too long, and the remaining text at the end.
 */
export class SpeechCutter {
  readonly #bounds: SplitBounds;
  #rest = '';
  #isFirst = true;

  constructor(bounds: SplitBounds) {
    this.#bounds = bounds;
  }

  /** Adds text. Returns the parts that can be spoken now. */
  push(text: string): string[] {
    const parts = sentencesOf(this.#rest + text);
    let rest = (parts.pop() ?? '').trimStart();
    const ready = parts.flatMap((part) => this.#split(part));
    while (rest.length > this.#chars) {
      const cut = breath(rest, this.#chars, this.#bounds);
      // A link that fills the remaining text may still be incomplete.
      if (cut === rest.length && rest.length < MOST_LINK_CHARS) break;
      ready.push(...this.#split(rest.slice(0, cut)));
      rest = rest.slice(cut).trimStart();
    }
    this.#rest = rest;
    return ready;
  }

  /** Returns the remaining text when it is a whole sentence. Call this when no text has followed for a while. */
  pause(): string[] {
    return FINISHED.test(this.#rest) ? this.end() : [];
  }

  /** Returns the remaining text. */
  end(): string[] {
    const rest = this.#rest;
    this.#rest = '';
    return this.#split(rest);
  }

  get #chars(): number {
    return this.#isFirst ? this.#bounds.firstChars : this.#bounds.chars;
  }

  #split(part: string): string[] {
    const { chars, keepsLinks = false } = this.#bounds;
    const chunks = splitSpeech(part, { firstChars: this.#chars, chars, keepsLinks });
    if (chunks.length > 0) this.#isFirst = false;
    return chunks;
  }
}

function sentencesOf(text: string): string[] {
  const parts: string[] = [];
  let from = 0;
  for (const match of text.matchAll(SENTENCE_END)) {
    const end = match.index + match[0].length;
    if (goesOn(text, from, match.index, end)) continue;
    parts.push(text.slice(from, end));
    from = end;
  }
  parts.push(text.slice(from));
  return parts;
}

/** Returns true when the full stop of a match ends no sentence, also while the next word, not there yet, has to decide. */
function goesOn(text: string, from: number, at: number, end: number): boolean {
  if (!/^\.[*_]*[^\S\n]+$/.test(text.slice(at, end))) return false;
  const before = text.slice(Math.max(from, at - ABBREVIATION_CHARS), at);
  if (ABBREVIATED.test(before) || LIST_NUMBER.test(text.slice(from, at))) return true;
  if (NUMBERED.test(before)) return end === text.length || /\d/.test(text.charAt(end));
  if (!EITHER.test(before)) return false;
  return !SENTENCE_START.test(text.slice(end, end + ABBREVIATION_CHARS));
}

/** Returns the last good place for a cut within `chars`, but none in the first third: a stub is worse than a bad cut. */
function breath(text: string, chars: number, { keepsLinks }: SplitBounds): number {
  const head = headOf(text, chars);
  let cut = head.length;
  for (const mark of BREATHS) {
    const ends = [...head.matchAll(mark)].map((match) => match.index + match[0].length);
    const last = ends.at(-1);
    if (last !== undefined && last >= chars / 3) {
      cut = last;
      break;
    }
  }
  return keepsLinks ? besideLink(text, cut) : cut;
}

/** Moves a cut out of a link: to the start of the link, or to its end when the text begins with the link. */
function besideLink(text: string, cut: number): number {
  for (const { 0: link, index } of text.matchAll(LINK)) {
    const end = index + link.length;
    if (index >= cut) break;
    if (cut < end) return text.slice(0, index).trim() === '' ? end : index;
  }
  return cut;
}
