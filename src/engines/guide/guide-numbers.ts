const SMALL =
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen';
const TENS = 'twenty thirty forty fifty sixty seventy eighty ninety';
const VALUES = new Map<string, number>([
  ...SMALL.split(' ').map((word, value) => [word, value] as const),
  ...TENS.split(' ').map((word, index) => [word, (index + 2) * 10] as const),
]);
const SCALES = new Map([
  ['thousand', 1_000],
  ['million', 1_000_000],
]);

/** Replaces the number words of a text by digits: `twenty two plus one point five` becomes `22 plus 1.5`. */
export function digitsForWords(text: string): string {
  const out: string[] = [];
  const words = text.replace(/([a-z])-([a-z])/g, '$1 $2').split(/\s+/);
  for (let at = 0; at < words.length; ) {
    const [digits, used] = readNumber(words, at);
    out.push(used === 0 ? (words[at] ?? '') : digits);
    at += Math.max(1, used);
  }
  return out.join(' ');
}

/** Returns the number that begins at the word `from` as digits, and the number of words that it takes. */
function readNumber(words: readonly string[], from: number): readonly [string, number] {
  let total = 0;
  let group = 0;
  let at = from;
  for (; at < words.length; at++) {
    const word = words[at] ?? '';
    const value = VALUES.get(word);
    const scale = SCALES.get(word);
    if (value !== undefined) group += value;
    else if (word === 'hundred' && at > from) group = Math.max(1, group) * 100;
    else if (scale !== undefined && at > from) {
      total += Math.max(1, group) * scale;
      group = 0;
    } else if (!(word === 'and' && at > from && VALUES.has(words[at + 1] ?? ''))) break;
  }
  if (at === from) return ['', 0];
  let digits = String(total + group);
  const isDigit = (word = '') => (VALUES.get(word) ?? 10) < 10;
  if (words[at] === 'point' && isDigit(words[at + 1])) {
    digits += '.';
    for (at++; isDigit(words[at]); at++) digits += VALUES.get(words[at] ?? '');
  }
  return [digits, at - from];
}
