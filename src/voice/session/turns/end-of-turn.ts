/** Milliseconds of silence that end the caller's turn, by the caller's last words. */
export type TurnWaits = {
  /** After a complete sentence or a question. */
  readonly minSilenceMs: number;
  /** After a filler or a phrase that leads on to other words. */
  readonly maxSilenceMs: number;
  /** After digits and letters of a number or a name that may go on. */
  readonly onNumberMs: number;
  /** After words without punctuation, where the transcriber punctuates. */
  readonly onNoPunctuationMs: number;
};

export const TURN_MODES = {
  fast: { minSilenceMs: 250, maxSilenceMs: 1_000, onNumberMs: 800, onNoPunctuationMs: 400 },
  balanced: { minSilenceMs: 300, maxSilenceMs: 1_800, onNumberMs: 1_500, onNoPunctuationMs: 700 },
  patient: { minSilenceMs: 500, maxSilenceMs: 3_000, onNumberMs: 3_000, onNoPunctuationMs: 1_500 },
} as const satisfies Record<string, TurnWaits>;

/** Context for `silenceAfter`, beside the words of the turn. */
export type TurnContext = {
  /** Words that the agent said before the turn. */
  readonly asked: string;
  /** The transcriber has ended earlier words with a full stop or the like. */
  readonly isPunctuated: boolean;
};

/** Classes of a turn's last words: complete, or likely to go on. */
type TurnKind = 'complete' | 'number' | 'perhaps_number' | 'open' | 'perhaps_open' | 'unpunctuated';

/** English words that are usually followed by another word. Words that end a sentence equally often are left out. */
const LEADING_ON = new Set(
  `a an the my your our their and or but so because if when while although though unless until than
  of for from with without into onto between at to as i i'm i'd i'll we're they're you're it's about
  um uh uhm umm er erm hmm well like maybe`.split(/\s+/),
);

/** Words of `LEADING_ON` that also end a question such as "what is it for". */
const STRANDED = new Set(['of', 'for', 'from', 'with', 'at', 'to', 'about', 'like', 'into']);

const ASKS = /\b(?:what|who|which|where|how|when|why)\b/;

/** Words that end a sentence less often than they continue it. Recognisers also report them for a drawn-out "the" or "if". */
const PERHAPS_LEADING_ON = new Set('this that these those he she they we just'.split(' '));

/** Matches "I'd" and its like: "would" is followed by more than two words more often than not. */
const PERHAPS_BEGUN = /^(?:i|we|you|he|she|they)'d$/;
const BEGUN_WORDS = 3;

/**
 * A caller says a number of their own: words follow where a recogniser does not hear the digits. Recognisers hear "number is" as
 * "numbers".
 */
const ANNOUNCES =
  /\b(?:my|our) (?:[\w']+ ){0,2}?(?:numbers?|code|zip|pin|postcode|extension)(?: [\w']+){1,11}$/;
/** A turn that consists of the announcement alone. */
const ANNOUNCES_ALONE =
  /^(?:(?:and|so|um|uh|well|yes|okay|sure) )*(?:my|our) (?:[\w']+ ){0,2}?(?:numbers?|code|zip|pin|postcode|extension)$/;
/** First words of a question, in which a number is asked about. */
const ASKED = /^(?:can|could|do|does|did|is|are|will|would|should|may|have|has)\b/;
/** Words at the end that are looked through for an announcement. */
const ANNOUNCED_WORDS = 16;

/** Two or three words at the end that lead on to others. */
const OPEN_END =
  /\b(?:(?:name|number|address|e-?mail|code|date|birthday|id|zip|account|street|city|extension|password|order) (?:is|are|was)|i (?:think|mean|guess|want|need|was|am|have|would)|(?:i'd|would) like|(?:want|going|need|have|like|wanted) to|let me (?:see|think|check)|you know|(?:hold|hang) on|(?:one|just a) (?:moment|second|minute)|is it|if you|that i|kind of|sort of)$/;

const DIGIT =
  /^(?:zero|oh|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)teen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|double|triple|\d+)$/;
const LETTER = /^(?:[b-hj-z]|double)$/;
/** "a" and "i" are letters among letters alone; "oh" and "zero" are digits, and "at", "dot", "dash" join them. */
const JOINS = /^(?:a|i|at|dot|dash|hyphen|underscore|slash|plus)$/;

const WANTS_NUMBER =
  /\b(?:number|digits|zip|postal|postcode|code|pin|account|card|birth|birthday|social|extension)\b/;
const WANTS_LETTERS = /\b(?:spell|spelling|spelled|letter by letter|e-?mail)\b/;

/**
 * Milliseconds of silence that end a turn with these words: fewest after a complete sentence, more after digits, fillers
 * and open phrases.
 */
export function silenceAfter(words: string, waits: TurnWaits, context: TurnContext): number {
  const { maxSilenceMs, minSilenceMs, onNoPunctuationMs, onNumberMs } = waits;
  switch (kindOf(words, context)) {
    case 'open':
      return maxSilenceMs;
    case 'perhaps_open':
      return Math.max(minSilenceMs, Math.round((maxSilenceMs * 2) / 3));
    case 'number':
      return Math.max(minSilenceMs, onNumberMs);
    case 'perhaps_number':
      return Math.max(minSilenceMs, Math.round(onNumberMs / 2));
    case 'unpunctuated':
      return Math.max(minSilenceMs, onNoPunctuationMs);
    case 'complete':
      return minSilenceMs;
  }
}

/** Returns true when the words end with a full stop, a question mark or an exclamation mark. */
export const isPunctuated = (words: string): boolean => /[.?!。！？]["'”’)\]]*\s*$/.test(words);

function kindOf(said: string, { asked, isPunctuated: hasPunctuation }: TurnContext): TurnKind {
  const text = said.trim().toLowerCase().replaceAll('’', "'");
  if (text === '') return 'complete';
  const words = text.split(/[^\p{L}\p{N}']+/u).filter((word) => word !== '');
  if (/[?？]["'”’)\]]*$/.test(text)) return 'complete';
  const question = lastSentence(asked.toLowerCase());
  const digits = trailingDigits(words);
  if (digits >= expectedDigits(question) || digits >= expectedDigits(text)) return 'complete';
  if (digits >= 2 || trailingSpelled(words) >= 2) return 'number';
  if (/(?:\.\.\.|…|[-–—,:])$/.test(text) || isOpen(words)) return 'open';
  if (WANTS_NUMBER.test(question) || WANTS_LETTERS.test(question)) return 'number';
  const last = words.at(-1) ?? '';
  if (announcesNumber(words)) return 'number';
  // "One" at the end is more often a pronoun than a digit.
  if ((digits === 1 && last !== 'one') || LETTER.test(last)) return 'perhaps_number';
  if (!isPunctuated(text) && isPerhapsOpen(words)) return 'perhaps_open';
  return hasPunctuation && !isPunctuated(text) ? 'unpunctuated' : 'complete';
}

function announcesNumber(words: readonly string[]): boolean {
  const end = words.slice(-ANNOUNCED_WORDS).join(' ');
  if (ANNOUNCES_ALONE.test(end)) return true;
  return ANNOUNCES.test(end) && !ASKS.test(end) && !ASKED.test(end);
}

function isPerhapsOpen(words: readonly string[]): boolean {
  if (words.length <= BEGUN_WORDS && PERHAPS_BEGUN.test(words[0] ?? '')) return true;
  return PERHAPS_LEADING_ON.has(words.at(-1) ?? '') && !ASKS.test(words.join(' '));
}

function isOpen(words: readonly string[]): boolean {
  const last = words.at(-1) ?? '';
  const end = words.slice(-4).join(' ');
  if (OPEN_END.test(end)) return true;
  if (!LEADING_ON.has(last)) return false;
  return !(STRANDED.has(last) && ASKS.test(words.join(' ')));
}

/** Returns the number of words at the end that satisfy `is`. */
function trailing(words: readonly string[], is: (word: string) => boolean): number {
  let count = 0;
  while (count < words.length && is(words[words.length - 1 - count] ?? '')) count++;
  return count;
}

/** Returns the number of letters and digits at the end of the words. Words that join them, such as "dot", do not count. */
function trailingSpelled(words: readonly string[]): number {
  const isPart = (word: string) => LETTER.test(word) || DIGIT.test(word);
  const count = trailing(words, (word) => isPart(word) || JOINS.test(word));
  return words.slice(words.length - count).filter(isPart).length;
}

/** Returns the number of digits at the end of the words. A number word such as "twelve" counts as one digit. */
function trailingDigits(words: readonly string[]): number {
  const count = trailing(words, (word) => DIGIT.test(word));
  return words
    .slice(words.length - count)
    .reduce((sum, word) => sum + (/^\d/.test(word) ? word.length : 1), 0);
}

/** Returns the number of digits that complete the number `text` mentions (a phone number: 10); infinity when unknown. */
function expectedDigits(text: string): number {
  if (/\blast four\b/.test(text)) return 4;
  if (/\b(?:phone|telephone|cell|mobile|my number|call you|reach you)\b/.test(text)) return 10;
  if (/\b(?:zip|postal)\b/.test(text)) return 5;
  return Number.POSITIVE_INFINITY;
}

/**
 * Returns the last sentence of a text. "Please" and the like may follow a question in the same sentence; another sentence may
 * not.
 */
const lastSentence = (text: string): string => text.slice(text.search(/[^.!?]*[.!?]*\s*$/));
