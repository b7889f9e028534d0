import { headOf } from '../../kernel/storable.ts';

/**
 * An end of a sentence: its mark, closing quotes or brackets, and the space after. A run of marks is looked at from its
 * first alone: a long one would otherwise be read to its end from each.
 */
const SENTENCE_END = /(?<![.!?…])[.!?…]+["'”’)\]]*\s+|\n+/g;
/** Titles, saints and streets, initials and the like: a full stop after one of them ends no sentence. */
const ABBREVIATED =
  /(?:^|[\s("'“‘[])(?:Drs?|Mrs?|Ms|Mx|Profs?|St|Ste|Mt|Ft|Gen|Col|Capt|Lt|Sgt|Rev|Hon|Gov|Sen|Rep|Pres|vs|e\.g|i\.e|cf|[A-HJ-Z]|U\.[KNS])$/;
/** These only before a number. */
const NUMBERED =
  /(?:^|[\s(])(?:[Nn]os?|[Ff]igs?|[Vv]ol|[Cc]h|pp?|approx|ca|Jan|Feb|Mar|Apr|Aug|Sept?|Oct|Nov|Dec)$/;
const ABBREVIATION_CHARS = 8;

/** Where a long sentence may breathe, best first. */
const BREATHS = [/[;:]\s/g, /[,)—–]\s?/g, /\s/g];

export type SplitBounds = {
  readonly firstChars: number;
  readonly chars: number;
};

/**
 * Cuts text into what is spoken in one breath: sentences, and long ones at clauses, words, or in the
 * last resort anywhere. Nothing is lost but space between chunks, and what holds no letter or digit.
 */
export function splitSpeech(text: string, bounds: SplitBounds): string[] {
  const chunks: string[] = [];
  for (const sentence of cutAfter(text, SENTENCE_END)) {
    let rest = sentence.trim();
    while (rest !== '') {
      const chars = chunks.length === 0 ? bounds.firstChars : bounds.chars;
      const cut = rest.length <= chars ? rest.length : breath(rest, chars);
      const chunk = rest.slice(0, cut).trim();
      if (/[\p{L}\p{N}]/u.test(chunk)) chunks.push(chunk);
      rest = rest.slice(cut).trim();
    }
  }
  return chunks;
}

/**
 * Cuts text that is still being written in the same way: a sentence comes out as soon as something follows it, one
 * without an end as soon as it is too long, and the rest at the end.
 */
export class SpeechCutter {
  readonly #bounds: SplitBounds;
  #rest = '';
  #isFirst = true;

  constructor(bounds: SplitBounds) {
    this.#bounds = bounds;
  }

  /** What can be spoken now. */
  push(text: string): string[] {
    const parts = cutAfter(this.#rest + text, SENTENCE_END);
    let rest = (parts.pop() ?? '').trimStart();
    const ready = parts.flatMap((part) => this.#split(part));
    while (rest.length > this.#chars) {
      const cut = breath(rest, this.#chars);
      ready.push(...this.#split(rest.slice(0, cut)));
      rest = rest.slice(cut).trimStart();
    }
    this.#rest = rest;
    return ready;
  }

  /** What is left. */
  end(): string[] {
    const rest = this.#rest;
    this.#rest = '';
    return this.#split(rest);
  }

  get #chars(): number {
    return this.#isFirst ? this.#bounds.firstChars : this.#bounds.chars;
  }

  #split(part: string): string[] {
    const { chars } = this.#bounds;
    const chunks = splitSpeech(part, { firstChars: this.#chars, chars });
    if (chunks.length > 0) this.#isFirst = false;
    return chunks;
  }
}

function cutAfter(text: string, mark: RegExp): string[] {
  const parts: string[] = [];
  let from = 0;
  for (const match of text.matchAll(mark)) {
    const end = match.index + match[0].length;
    if (mark === SENTENCE_END && isAbbreviation(text, match.index, end)) continue;
    parts.push(text.slice(from, end));
    from = end;
  }
  parts.push(text.slice(from));
  return parts;
}

function isAbbreviation(text: string, at: number, end: number): boolean {
  if (!/^\.[^\S\n]+$/.test(text.slice(at, end))) return false;
  const before = text.slice(Math.max(0, at - ABBREVIATION_CHARS), at);
  return ABBREVIATED.test(before) || (NUMBERED.test(before) && /\d/.test(text.charAt(end)));
}

/** The last good place within `chars`, but none in the first third: a stub is worse than a bad cut. */
function breath(text: string, chars: number): number {
  const head = headOf(text, chars);
  for (const mark of BREATHS) {
    const ends = [...head.matchAll(mark)].map((match) => match.index + match[0].length);
    const last = ends.at(-1);
    if (last !== undefined && last >= chars / 3) return last;
  }
  return head.length;
}
