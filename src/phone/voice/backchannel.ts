/** Sounds of a listener, however long they are drawn: "mhm", "mm-hmm", "uh-huh", "yeahhh", "haha". */
const SOUNDS =
  /^(?:m+|h+m+|m+h+m*|u+h+|u+m+|a+h+|o+h+|a+ha+|u+h+hu+h+|ye+a+h*|ye+p+|yu+p+|o+k+a*y*|ha+(?:ha+)+h?|he+(?:he+)+h?|huh)$/;

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

/** Pairs of words that are one sign together, and none apart. */
const PAIRS: ReadonlySet<string> = new Set(['i see', 'got it', 'all right', 'of course', 'go on']);

/** Who says more than so much has something to say, whatever it is. */
const MOST_WORDS = 4;
const MOST_CHARS = 64;

/**
 * Whether these words only show that the caller is listening, so that they interrupt nothing. False where there are no
 * words: it is not known yet.
 */
export function isBackchannel(transcript: string): boolean {
  if (transcript.length > MOST_CHARS) return false;
  const words = transcript
    .toLowerCase()
    .replace(/['’]/g, '')
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');
  if (words.length === 0 || words.length > MOST_WORDS) return false;
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? '';
    if (SOUNDS.test(word) || WORDS.has(word)) continue;
    if (!PAIRS.has(`${word} ${words[at + 1] ?? ''}`)) return false;
    at++;
  }
  return true;
}
