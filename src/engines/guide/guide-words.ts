/** The words of a text in small letters, without punctuation. */
export function wordsOf(text: string): string[] {
  return text
    .toLowerCase()
    .replace(/['’]/g, '')
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');
}

/** Cuts the commonest endings, so that `keys` meets `key` and `charged` meets `charge`. */
export function stem(word: string): string {
  if (word.length <= 3) return word;
  return word.replace(/(?:ing|ed|es|s|e)$/, '');
}

/** How many letters must be added, dropped or changed to make one word of the other. */
export function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const changed = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, changed));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}

const SOUNDS: readonly (readonly [RegExp, string])[] = [
  [/[aeiouyhw]/g, ''],
  [/[bpvf]/g, 'p'],
  [/[csz]/g, 's'],
  [/[dt]/g, 't'],
  [/[gkq]/g, 'k'],
  [/(.)\1+/g, '$1'],
];

/** What a word sounds like to a poor recogniser: its consonants, kin taken for one. */
export function soundOf(word: string): string {
  return SOUNDS.reduce((text, [from, to]) => text.replace(from, to), word.slice(0, 40));
}

/** Whether `heard` may have been `meant`, misheard. */
export function mayBe(heard: string, meant: string): boolean {
  if (Math.abs(heard.length - meant.length) > 3) return false;
  return editDistance(heard, meant) <= meant.length / 3.5 || soundOf(heard) === soundOf(meant);
}
