import { createHash } from 'node:crypto';
import { BackupError, Head, ROWS_END, TableLine, Tail } from './format.ts';

/** Longest value of one row. A longer line is no backup of this program. */
const MAX_LINE_BYTES = 256 * 1024 * 1024;
const INNER_END = Buffer.from(`\n${ROWS_END}`);
const LINE_FEED = 10;

export type BackupPiece =
  | { readonly kind: 'head'; readonly head: Head }
  | { readonly kind: 'table'; readonly table: TableLine }
  | { readonly kind: 'rows'; readonly bytes: Uint8Array }
  | { readonly kind: 'table_end' }
  | { readonly kind: 'tail'; readonly tail: Tail };

/**
 * Yields the pieces of a backup's text, chunk by chunk. Throws when the text is cut off, altered or no backup. The checksum has
 * been verified once the tail is yielded.
 */
export async function* readBackup(source: AsyncIterable<Buffer>): AsyncGenerator<BackupPiece> {
  const reader = new BackupReader();
  for await (const chunk of source) yield* reader.push(chunk);
  reader.end();
}

class BackupReader {
  readonly #hash = createHash('sha256');
  #rest: Buffer = Buffer.alloc(0);
  #expects: 'head' | 'line' | 'rows' | 'nothing' = 'head';

  *push(chunk: Buffer): Generator<BackupPiece> {
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    for (let piece = this.#next(); piece !== undefined; piece = this.#next()) yield piece;
    if (this.#rest.length > MAX_LINE_BYTES)
      throw new BackupError('The backup has a line too long.');
  }

  end(): void {
    if (this.#expects !== 'nothing') throw new BackupError('The backup is cut off.');
  }

  #next(): BackupPiece | undefined {
    if (this.#rest.length === 0) return undefined;
    if (this.#expects === 'nothing') throw new BackupError('Something follows the backup’s end.');
    return this.#expects === 'rows' ? this.#nextRows() : this.#nextLine();
  }

  #nextRows(): BackupPiece | undefined {
    if (this.#rest.indexOf(ROWS_END) === 0) {
      this.#take(ROWS_END.length);
      this.#expects = 'line';
      return { kind: 'table_end' };
    }
    const end = this.#rest.indexOf(INNER_END);
    const whole = (end >= 0 ? end : this.#rest.lastIndexOf(LINE_FEED)) + 1;
    return whole === 0 ? undefined : { kind: 'rows', bytes: this.#take(whole) };
  }

  #nextLine(): BackupPiece | undefined {
    const end = this.#rest.indexOf(LINE_FEED);
    if (end < 0) return undefined;
    const value = parseLine(this.#rest.subarray(0, end).toString());
    if (this.#expects === 'head') {
      this.#take(end + 1);
      this.#expects = 'line';
      return { kind: 'head', head: parseAs(Head, value) };
    }
    if ('table' in value) {
      this.#take(end + 1);
      this.#expects = 'rows';
      return { kind: 'table', table: parseAs(TableLine, value) };
    }
    this.#rest = this.#rest.subarray(end + 1);
    this.#expects = 'nothing';
    const tail = parseAs(Tail, value);
    if (tail.sha256 !== this.#hash.digest('hex')) {
      throw new BackupError('The backup is damaged: its checksum does not match.');
    }
    return { kind: 'tail', tail };
  }

  #take(length: number): Buffer {
    const taken = this.#rest.subarray(0, length);
    this.#hash.update(taken);
    this.#rest = this.#rest.subarray(length);
    return taken;
  }
}

function parseLine(text: string): object {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null) return value;
  } catch {
    // The text is no JSON: the error below reports it.
  }
  throw new BackupError('This is not a backup that this program can read.');
}

function parseAs<T>(
  schema: { safeParse(value: unknown): { success: boolean; data?: T } },
  value: unknown,
): T {
  const parsed = schema.safeParse(value);
  if (!parsed.success || parsed.data === undefined) {
    throw new BackupError('This is not a backup that this program can read.');
  }
  return parsed.data;
}
