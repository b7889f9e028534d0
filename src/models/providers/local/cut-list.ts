import { takeTurns } from './take-turns.ts';

/** JSON object with a list under `data`, cut into the original bytes of its parts. */
export type CutList = {
  /** Bytes up to the first element. */
  readonly head: Buffer;
  readonly items: readonly Buffer[];
  /** Bytes after the last element. */
  readonly tail: Buffer;
};

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const OPENERS: ReadonlySet<number> = new Set([0x7b, 0x5b]);
const CLOSERS: ReadonlySet<number> = new Set([0x7d, 0x5d]);
/** Table of bytes that need no handling: 1 for the digits and signs of numbers, which are most of the bytes. */
const PLAIN = plainBytes();
/** Bytes that are read before other work of the event loop gets a turn. */
const STRIDE = 16 * 1024;

function plainBytes(): Uint8Array {
  const plain = new Uint8Array(256).fill(1);
  for (const byte of [QUOTE, COLON, ...OPENERS, ...CLOSERS]) plain[byte] = 0;
  return plain;
}

/**
 * Cuts a JSON object at the elements of its member `data` without parsing them, because parsing megabytes of numbers at once
 * would block the event loop. Undefined when `data` is not such a list of objects.
 */
export async function cutList(json: Buffer): Promise<CutList | undefined> {
  const turn = takeTurns();
  const cutter = new ListCutter(json);
  while (!cutter.isDone) {
    cutter.goOn(STRIDE);
    await turn(STRIDE);
  }
  return cutter.cut();
}

/** Joins the pieces to one JSON text. */
export function joinList({ head, items, tail }: CutList): Buffer {
  const pieces = items.flatMap((item, index) => (index === 0 ? [item] : [COMMA, item]));
  return Buffer.concat([head, ...pieces, tail]);
}

const COMMA = Buffer.from(',');

class ListCutter {
  readonly #json: Buffer;
  #at = 0;
  #depth = 0;
  /** Place of the last text in the outer object. The text is a key when a colon follows. */
  #text: readonly [number, number] = [0, 0];
  #isUnderData = false;
  #listStart: number | undefined;
  #listEnd: number | undefined;
  #itemStart = 0;
  readonly #items: Buffer[] = [];

  constructor(json: Buffer) {
    this.#json = json;
  }

  get isDone(): boolean {
    return this.#at >= this.#json.length;
  }

  goOn(bytes: number): void {
    const json = this.#json;
    const end = Math.min(json.length, this.#at + bytes);
    while (this.#at < end) {
      const byte = json[this.#at] as number;
      if (PLAIN[byte] === 0) this.#mark(byte);
      this.#at++;
    }
  }

  cut(): CutList | undefined {
    if (this.#listStart === undefined || this.#listEnd === undefined) return undefined;
    const head = this.#json.subarray(0, this.#listStart);
    return { head, items: this.#items, tail: this.#json.subarray(this.#listEnd) };
  }

  #mark(byte: number): void {
    if (byte === QUOTE) this.#skipText();
    else if (byte === COLON) this.#readKey();
    else if (OPENERS.has(byte)) this.#open();
    else this.#close();
  }

  #skipText(): void {
    const start = this.#at + 1;
    let end = this.#json.indexOf(QUOTE, start);
    while (end !== -1 && this.#isEscaped(end)) end = this.#json.indexOf(QUOTE, end + 1);
    this.#at = end === -1 ? this.#json.length : end;
    if (this.#depth === 1) this.#text = [start, this.#at];
  }

  #isEscaped(at: number): boolean {
    let slashes = 0;
    while (this.#json[at - 1 - slashes] === BACKSLASH) slashes++;
    return slashes % 2 === 1;
  }

  #readKey(): void {
    if (this.#depth !== 1) return;
    const [start, end] = this.#text;
    this.#isUnderData = end - start === 4 && this.#json.toString('latin1', start, end) === 'data';
  }

  #open(): void {
    this.#depth++;
    if (!this.#isUnderData) return;
    if (this.#depth === 2) this.#listStart = this.#at + 1;
    if (this.#depth === 3) this.#itemStart = this.#at;
  }

  #close(): void {
    this.#depth--;
    if (!this.#isUnderData) return;
    if (this.#depth === 2) this.#items.push(this.#json.subarray(this.#itemStart, this.#at + 1));
    if (this.#depth !== 1) return;
    this.#listEnd = this.#at;
    this.#isUnderData = false;
  }
}
