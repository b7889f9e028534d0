import { turnForLongWork } from '../long-work.ts';

/** Values that are written in some milliseconds. */
const VALUES_PER_TURN = 4_000;
/** A longer text counts as several values. */
const CHARS_PER_VALUE = 1_024;

/** The text of a value that was read from JSON, in pieces. Of one with many parts, some are written in each turn. */
export async function writeJsonInTurns(value: unknown): Promise<readonly Buffer[]> {
  const out = new Pieces();
  await write(out, value);
  return out.end();
}

class Pieces {
  readonly #pieces: Buffer[] = [];
  #text = '';
  #values = 0;

  async add(text: string, values = 0): Promise<void> {
    this.#text += text;
    this.#values += values;
    if (this.#values < VALUES_PER_TURN) return;
    this.end();
    await turnForLongWork();
  }

  end(): readonly Buffer[] {
    this.#pieces.push(Buffer.from(this.#text));
    this.#text = '';
    this.#values = 0;
    return this.#pieces;
  }
}

async function write(out: Pieces, value: unknown): Promise<void> {
  const left = valuesLeft(value, VALUES_PER_TURN);
  if (left >= 0 || typeof value !== 'object' || value === null) {
    return out.add(JSON.stringify(value), VALUES_PER_TURN - left);
  }
  let sign = Array.isArray(value) ? '[' : '{';
  for (const [name, part] of Object.entries(value)) {
    await out.add(Array.isArray(value) ? sign : `${sign}${JSON.stringify(name)}:`);
    await write(out, part);
    sign = ',';
  }
  await out.add(Array.isArray(value) ? ']' : '}');
}

/** How many values are left of so many when those of `value` are taken away; negative where it has more. */
function valuesLeft(value: unknown, most: number): number {
  if (typeof value === 'string') return most - 1 - Math.floor(value.length / CHARS_PER_VALUE);
  let left = most - 1;
  if (typeof value !== 'object' || value === null) return left;
  for (const name in value) {
    if (left < 0) return left;
    left = valuesLeft((value as Readonly<Record<string, unknown>>)[name], left);
  }
  return left;
}
