const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN = 0x7b;
const CLOSE = 0x7d;

/**
 * Finds the end of a JSON object that comes in pieces. Reads each character once and stores none. A text that begins with
 * another value is never whole.
 */
export class ObjectEnd {
  /** True when the text begins with an object. Undefined: only white space has come. */
  #isObject: boolean | undefined;
  #depth = 0;
  #isInText = false;
  #isEscaped = false;
  #isWhole = false;

  get isWhole(): boolean {
    return this.#isWhole;
  }

  push(piece: string): void {
    this.#isObject ??= beginsObject(piece);
    if (this.#isObject !== true) return;
    for (let at = 0; at < piece.length; at++) this.#look(piece.charCodeAt(at));
  }

  #look(char: number): void {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (char === QUOTE) this.#isInText = !this.#isInText;
    else if (this.#isInText) this.#isEscaped = char === BACKSLASH;
    else if (char === OPEN) this.#depth++;
    else if (char === CLOSE && --this.#depth === 0) this.#isWhole = true;
  }
}

function beginsObject(piece: string): boolean | undefined {
  const text = piece.trimStart();
  return text === '' ? undefined : text.charCodeAt(0) === OPEN;
}
