/** ABI encoding of contract calls and answers: words of 32 bytes, in hex without `0x` while they are joined. */

const WORD_CHARS = 64;

export const wordOf = (value: bigint | number): string =>
  value.toString(16).padStart(WORD_CHARS, '0');

/** Returns an address, or 32 bytes, as a word. */
export const wordOfHex = (hex: string): string =>
  hex.slice(2).toLowerCase().padStart(WORD_CHARS, '0');

export const topicOf = (address: string): string => `0x${wordOfHex(address)}`;

/** Returns the address in a topic. Undefined when the word is no address. */
export function addressIn(word: string): string | undefined {
  return /^0x0{24}[0-9a-f]{40}$/.test(word) ? `0x${word.slice(26)}` : undefined;
}

/** Returns the words of an answer. Undefined when the answer does not consist of whole words. */
export function wordsOf(answer: string): readonly bigint[] | undefined {
  const hex = answer.slice(2);
  if (hex.length % WORD_CHARS !== 0) return undefined;
  return Array.from({ length: hex.length / WORD_CHARS }, (_, i) =>
    BigInt(`0x${hex.slice(i * WORD_CHARS, (i + 1) * WORD_CHARS)}`),
  );
}

/** Returns a word as a signed number (two's complement). */
export const signed = (word: bigint): bigint => BigInt.asIntN(256, word);
