const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN = 0x7b;
const CLOSE = 0x7d;

/** Finds the end of a JSON object that comes in pieces. Each character is looked at once, and none is held. */
export class ObjectEnd {
  #depth = 0;
  #isInText = false;
  #isEscaped = false;
  #isWhole = false;

  get isWhole(): boolean {
    return this.#isWhole;
  }

  push(piece: string): void {
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
