/** Returns the words of a text in lower case, without punctuation and in composed characters. */
export function wordsOf(text: string): string[] {
  return text
    .normalize('NFC')
    .toLowerCase()
    .replace(/['’]/g, '')
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');
}

/** Removes the most common English endings, so that `keys` matches `key` and `charged` matches `charge`. */
export function stem(word: string): string {
  if (word.length <= 3) return word;
  return word.replace(/(?:ing|ed|es|s|e)$/, '');
}
