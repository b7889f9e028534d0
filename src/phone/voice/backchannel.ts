import { PHONE_LIMITS } from '../limits.ts';

/** Matches listening sounds of any length: "mhm", "mm-hmm", "uh-huh", "yeahhh", "haha". */
const SOUNDS =
  /^(?:m+|h+m+|(?:m+h+)+m*|u+h+|u+m+|a+h+|o+h+|a+ha+|u+h+hu+h+|ye+a+h*|ye+p+|yu+p+|o+k+a*y*|ha+(?:ha+)+h?|he+(?:he+)+h?|huh)$/;

const WORDS: ReadonlySet<string> = new Set([
  'right',
  'sure',
  'yes',
  'alright',
  'really',
  'wow',
  'nice',
  'cool',
  'great',
  'interesting',
  'exactly',
  'true',
  'laughter',
  'laughs',
  'laughing',
  'chuckles',
]);

/** Pairs of words that together are a sign of listening, although each word alone is not. */
const PAIRS: ReadonlySet<string> = new Set(['i see', 'got it', 'all right', 'of course', 'go on']);

/** A longer utterance has something to say, whatever its words are. */
const MOST_WORDS = 4;
const MOST_CHARS = 64;

/** Words that ask an agent to stop, or that begin a question or an objection. One of them interrupts by itself. */
const INTERRUPTING: ReadonlySet<string> = new Set(
  `stop wait no not nope hold hang sorry pardon excuse hello hey what who why when where how but actually enough cancel help
  repeat again never dont quiet operator human agent person representative stopp halt nein warte moment minute non attends
  arrete alto espera para basta`.split(/\s+/),
);

/** The words of `INTERRUPTING` that ask for silence. They count however short their sound was. */
const STOPPING: ReadonlySet<string> = new Set(
  'stop wait hold hang cancel enough quiet stopp halt warte attends arrete alto espera basta'.split(
    ' ',
  ),
);

/** Characters of a script without spaces between words; two of them count as a word. */
const UNPARTED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/gu;

/**
 * English words that say nothing without another one. A recogniser makes pairs such as "but he" or "you have" of one sign of
 * listening.
 */
const EMPTY: ReadonlySet<string> = new Set(
  `a an the and or but so of to in on at by for from with as if that this it its is are was were be been am im you he she we
  they me him her us them my your his our their have has had do does did will would can could there then were youre
  hes shes`.split(/\s+/),
);

/** Consonants as they are spelled; `h`, `w` and `y` are breath or vowels. */
const CONSONANTS = /[^aeiouhwy\W\d_]/g;

/** Rules by which words interrupt an answer. */
export type InterruptionRules = {
  /** Fewest words that interrupt. Words of `INTERRUPTING` interrupt alone. */
  readonly minWords: number;
  /** Words that never interrupt, in lower case. */
  readonly ignoreWords: ReadonlySet<string>;
};

const NO_WORDS: ReadonlySet<string> = new Set();

/** Returns the words of a transcript in lower case. Letters apart, as in "m m h m", are joined to one word. */
function wordsOf(transcript: string): string[] {
  const words = transcript
    .toLowerCase()
    .replace(/['’]/g, '')
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');
  const isHum = words.length > 1 && words.every((word) => /^[mhu]+$/.test(word));
  return isHum ? [words.join('')] : words;
}

/**
 * Returns true when these words only show that the caller is listening, so that they interrupt nothing. Without words:
 * false, since it is not known yet.
 *
 * @internal Tests go through the words that show listening.
 */
export function isBackchannel(
  transcript: string,
  ignored: ReadonlySet<string> = NO_WORDS,
): boolean {
  if (transcript.length > MOST_CHARS) return false;
  const words = wordsOf(transcript);
  if (words.length === 0 || words.length > MOST_WORDS) return false;
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? '';
    if (SOUNDS.test(word) || WORDS.has(word) || ignored.has(word)) continue;
    if (!PAIRS.has(`${word} ${words[at + 1] ?? ''}`)) return false;
    at++;
  }
  return true;
}

/** Words that recognisers make of a cough or a rustle. */
const NOISE: ReadonlySet<string> = new Set([
  'the',
  'a',
  'and',
  'of',
  'to',
  'in',
  'it',
  'he',
  'that',
  'is',
]);

/** Returns true when the words of a sound too short to pause an answer are more than a recogniser's guess at a noise. */
export const isShortAnswer = (transcript: string): boolean =>
  !wordsOf(transcript).every((word) => NOISE.has(word));

/** Removes the vowels of a word, and the letters that recognisers take for parts of vowels. */
const skeletonOf = (word: string): string => word.replace(/[aeiouhwyr]/g, '');

const SIGN_SKELETONS: ReadonlySet<string> = new Set([...WORDS].map(skeletonOf));

/**
 * Returns true for a single meaningful word that no recogniser makes of a noise, and whose consonants are not those of a sign
 * of listening: "share" may be a misheard "sure".
 */
export function isOneWord(
  transcript: string,
  { ignoreWords, minWords }: InterruptionRules,
): boolean {
  if (minWords > 2 || isBackchannel(transcript, ignoreWords)) return false;
  const [word = '', ...others] = transcript.length > MOST_CHARS ? [] : wordsOf(transcript);
  if (others.length > 0 || NOISE.has(word) || EMPTY.has(word) || ignoreWords.has(word))
    return false;
  const skeleton = skeletonOf(word);
  return skeleton !== '' && !SIGN_SKELETONS.has(skeleton);
}

/** Returns true when words, however short their sound was, ask the agent to stop. */
export function isStop(transcript: string, ignored: ReadonlySet<string>): boolean {
  const words = transcript.length > MOST_CHARS ? [] : wordsOf(transcript);
  return (
    words.length <= MOST_WORDS && words.some((word) => STOPPING.has(word) && !ignored.has(word))
  );
}

/**
 * Returns true when a recogniser may have made these words of a hum such as a long "mm-hmm", because most of their consonants
 * are nasal. Sound of at least `longestHumMs` is speech.
 */
function isHum(words: readonly string[], loudMs: number): boolean {
  if (loudMs >= PHONE_LIMITS.interruption.longestHumMs) return false;
  const consonants = words.join('').match(CONSONANTS) ?? [];
  const nasals = consonants.filter((letter) => letter === 'm' || letter === 'n');
  return nasals.length * 2 > consonants.length;
}

/** Returns true when these words, said over an answer for `loudMs`, are meant to interrupt it. */
export function isInterruption(
  transcript: string,
  { ignoreWords, minWords }: InterruptionRules,
  loudMs: number,
): boolean {
  if (isBackchannel(transcript, ignoreWords)) return false;
  const words = wordsOf(transcript).filter((word) => !ignoreWords.has(word));
  const empty = words.filter((word) => EMPTY.has(word)).length;
  // "But" objects only where something follows it or precedes it.
  const says = (word: string) => !EMPTY.has(word) || empty < words.length;
  if (words.some((word) => INTERRUPTING.has(word) && says(word))) return true;
  const unparted = transcript.match(UNPARTED)?.length ?? 0;
  const count = Math.max(words.length, Math.ceil(unparted / 2));
  if (count > 1 && minWords === 2 && isHum(words, loudMs)) return false;
  if (count === 2 && minWords === 2) {
    const { longestHumMs, oneWordMs, twoWordsMs } = PHONE_LIMITS.interruption;
    return loudMs >= ([twoWordsMs, oneWordMs, longestHumMs][empty] ?? 0);
  }
  if (count >= minWords) return true;
  // A hum is transcribed as one word, and is shorter than `oneWordMs`: longer sound is a real word.
  return count === 1 && minWords === 2 && loudMs >= PHONE_LIMITS.interruption.oneWordMs;
}
