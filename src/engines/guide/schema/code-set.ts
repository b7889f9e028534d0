/** A set of characters, by their code points. */
export type CodeSet = {
  readonly ranges: readonly (readonly [number, number])[];
  readonly sets?: readonly CodeSet[];
  /** Matches one character that is in the set. */
  readonly property?: RegExp;
  readonly isNegated?: boolean;
};

const DIGITS: CodeSet['ranges'] = [[0x30, 0x39]];
const WORDS: CodeSet['ranges'] = [...DIGITS, [0x41, 0x5a], [0x5f, 0x5f], [0x61, 0x7a]];
const SPACES: CodeSet['ranges'] = [
  ...([
    [9, 13],
    [0x20, 0x20],
    [0xa0, 0xa0],
    [0x1680, 0x1680],
    [0x2000, 0x200a],
  ] as const),
  ...([
    [0x2028, 0x2029],
    [0x202f, 0x202f],
    [0x205f, 0x205f],
    [0x3000, 0x3000],
  ] as const),
  [0xfeff, 0xfeff],
];
const LINE_ENDS: CodeSet['ranges'] = [
  [10, 10],
  [13, 13],
  [0x2028, 0x2029],
];

export const SETS = {
  dot: { ranges: LINE_ENDS, isNegated: true },
  word: { ranges: WORDS },
} as const satisfies Record<string, CodeSet>;

const ESCAPED_SETS: ReadonlyMap<string, CodeSet> = new Map<string, CodeSet>([
  ['d', { ranges: DIGITS }],
  ['D', { ranges: DIGITS, isNegated: true }],
  ['w', SETS.word],
  ['W', { ranges: WORDS, isNegated: true }],
  ['s', { ranges: SPACES }],
  ['S', { ranges: SPACES, isNegated: true }],
]);

/** The set that a letter behind a backslash stands for. */
export const escapedSet = (letter: string): CodeSet | undefined => ESCAPED_SETS.get(letter);

/** The characters that a letter behind a backslash stands for. */
export const ESCAPED_CODES: ReadonlyMap<string, number> = new Map([
  ['n', 10],
  ['r', 13],
  ['t', 9],
  ['v', 11],
  ['f', 12],
  ['0', 0],
]);

export function isInSet(code: number, set: CodeSet): boolean {
  const isIn =
    set.ranges.some(([from, to]) => code >= from && code <= to) ||
    set.sets?.some((inner) => isInSet(code, inner)) === true ||
    set.property?.test(String.fromCodePoint(code)) === true;
  return isIn !== (set.isNegated ?? false);
}

const range = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, i) => from + i);
/** Letters, then digits, then whatever can be printed, then some that are no ASCII. */
const LIKED: readonly number[] = [
  ...range(0x61, 0x7a),
  ...range(0x41, 0x5a),
  ...range(0x30, 0x39),
  ...range(0x20, 0x7e),
  ...[...'éßЖ中あ٣€😀\n\t'].map((char) => char.codePointAt(0) ?? 0),
];
const MOST_SAMPLES = 8;

/** A few characters of a set, the plainest first; none where none is known. */
export function samplesOf(set: CodeSet): readonly number[] {
  const samples = new Set<number>();
  for (const code of LIKED) {
    if (isInSet(code, set)) samples.add(code);
    if (samples.size >= MOST_SAMPLES) return [...samples];
  }
  for (const inner of [set, ...(set.sets ?? [])]) {
    for (const [from, to] of inner.ranges) {
      for (const code of [from, to, from - 1, to + 1]) {
        const isCharacter = code >= 0 && code <= 0x10_ff_ff && !(code >= 0xd800 && code <= 0xdfff);
        if (isCharacter && isInSet(code, set)) samples.add(code);
      }
    }
  }
  return [...samples].slice(0, MOST_SAMPLES);
}
