/** Frequent words that are English and not also frequent in the languages below. */
const ENGLISH: ReadonlySet<string> = new Set(
  'the and you your is are was were it this that what with for have has can will would to of my we they from at by not there here how please yes'.split(
    ' ',
  ),
);
/** Frequent words of Spanish, Portuguese, French, Italian, German, Dutch, Swedish, Polish and Turkish. */
const FOREIGN: ReadonlySet<string> = new Set(
  (
    'el la los las una por para con que del su es son está usted gracias hola tiene puede cuesta uno ' +
    'o os das não você uma com obrigado tem pode ' +
    'le les des une est vous nous pour avec dans et je merci bonjour votre coûte ' +
    'il gli della che di per non sono grazie ciao ' +
    'der die das und ist nicht ein eine sie ich mit für auf von zu danke kostet ' +
    'het een niet van voor met zijn dat ' +
    'och att det som på inte är ' +
    'nie jest się na ale dziękuję ve bir bu için'
  ).split(' '),
);
/** Matches a letter outside the Latin script, so that the text is not English. */
const OTHER_SCRIPT = /[^\p{Script=Latin}\P{L}]/u;

/** The words that decide: later ones change nothing. */
const MOST_WORDS = 200;

/**
 * Detects from frequent words whether an answer is English, when its session names no language. An answer counts as English
 * until more words speak against it than for it.
 */
export class LanguageGuess {
  #english = 0;
  #foreign = 0;
  #words = 0;

  /** Adds `text` as the latest part of the answer. Returns true when the answer so far is English. */
  isEnglish(text: string): boolean {
    if (OTHER_SCRIPT.test(text)) return false;
    if (this.#words < MOST_WORDS) {
      for (const [word] of text.toLowerCase().matchAll(/\p{L}+/gu)) {
        this.#words++;
        if (ENGLISH.has(word)) this.#english++;
        else if (FOREIGN.has(word)) this.#foreign++;
      }
    }
    return this.#foreign <= this.#english;
  }
}
