/** Weights of a digit and of a sign in characters, since each is spoken as a word. */
const CHARS_OF_DIGIT = 6;
const CHARS_OF_SIGN = 8;
const SIGN = /[$%&@#*+=/<>^~|\\_{}[\]]/;

/**
 * Cuts a text into parts that each take at most `most` characters' time to say: 200 digits are a minute of audio. Cuts between
 * words, and within a long number when no space is near.
 */
export function cutSpoken(text: string, most: number): string[] {
  const parts: string[] = [];
  let part = '';
  let weight = 0;
  for (const char of text) {
    const more = spokenChars(char);
    if (weight + more > most) {
      const at = part.search(/\s\S*$/);
      const cut = at > part.length / 2 ? at + 1 : part.length;
      parts.push(part.slice(0, cut).trim());
      part = part.slice(cut);
      weight = 0;
      for (const left of part) weight += spokenChars(left);
    }
    part += char;
    weight += more;
  }
  return [...parts, part.trim()].filter((each) => each !== '');
}

function spokenChars(char: string): number {
  if (char >= '0' && char <= '9') return CHARS_OF_DIGIT;
  return SIGN.test(char) ? CHARS_OF_SIGN : 1;
}
