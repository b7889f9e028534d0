import { readEnglish } from './english.ts';
import { LanguageGuess } from './language-guess.ts';
import { stripMarkup } from './strip-markup.ts';

/**
 * Turns the sentences of one model answer into text to be read aloud. The result is empty for a sentence without words, such as
 * the rule of a table. The conversation keeps the written words.
 */
export class TextForSpeech {
  readonly #isEnglish: (text: string) => boolean;

  /** `language` is a tag such as `en-US`. With null, the language is guessed from the words. */
  constructor(language: string | null) {
    if (language === null) {
      const guess = new LanguageGuess();
      this.#isEnglish = (text) => guess.isEnglish(text);
    } else {
      const isEnglish = /^en(?:-|$)/i.test(language);
      this.#isEnglish = () => isEnglish;
    }
  }

  /** Returns the text to read aloud. `written` is a whole sentence or line, or a part of a long sentence. */
  read(written: string): string {
    const words = stripMarkup(written);
    const said = this.#isEnglish(words) ? readEnglish(words) : words;
    return /[\p{L}\p{N}]/u.test(said) ? said : '';
  }
}
