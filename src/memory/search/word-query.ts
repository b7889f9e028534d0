import { MEMORY_LIMITS } from '../limits.ts';

/**
 * Separators in a path, file name, address or type. PostgreSQL's parser takes such a text for one word, so that the column
 * `words` has a space in place of each separator. A point between digits stays.
 */
const BETWEEN_WORDS = /[/\\_@<>:=?#~]|(?<![0-9])\.|\.(?![0-9])/g;

/** Characters per word in the bound of a query's length. A text without spaces may contain many words. */
const CHARS_A_WORD = 16;

/**
 * Returns a query in the form of web searches, with its words cut as the index cuts words: a path becomes the phrase of its
 * words. Only the first `queryWords` words count.
 */
export function wordQuery(query: string): string {
  const { words: queryWords } = MEMORY_LIMITS.query;
  let left = queryWords;
  const wordsOf = (text: string): string => {
    const words = text.replace(BETWEEN_WORDS, ' ').split(/\s+/).filter(Boolean).slice(0, left);
    left -= words.length;
    return words.join(' ');
  };
  const phrase = (sign: string, text: string): string => {
    const words = wordsOf(text);
    return words.includes(' ') ? `${sign}"${words}"` : words && sign + words;
  };
  return query
    .slice(0, CHARS_A_WORD * queryWords)
    .normalize('NFC')
    .replace(/(-?)(?:"([^"]*)"|([^\s"]+))/g, (_, sign: string, quoted?: string, plain?: string) =>
      phrase(sign, quoted ?? plain ?? ''),
    );
}
