/** Sound that the far side has heard. */
export type Heard = { readonly atMs: number; readonly bytes: Uint8Array };

const FRAME_BYTES = 160;
const BYTES_PER_MS = 8;
/** Ten minutes, as at Twilio: what is beyond is discarded. */
const MOST_BUFFERED = 10 * 60_000 * BYTES_PER_MS;

type Entry = { readonly mark: string } | { readonly bytes: Uint8Array };

/** What a stream has to play: sound in its order, with marks in between. */
export class Playback {
  readonly heard: Heard[] = [];
  readonly #queue: Entry[] = [];
  #buffered = 0;
  discardedBytes = 0;

  get bufferedMs(): number {
    return this.#buffered / BYTES_PER_MS;
  }

  push(bytes: Uint8Array): void {
    if (this.#buffered + bytes.length > MOST_BUFFERED) {
      this.discardedBytes += bytes.length;
      return;
    }
    this.#buffered += bytes.length;
    if (bytes.length > 0) this.#queue.push({ bytes });
  }

  /** Keeps a mark behind what is to be played; one behind nothing is reached at the next frame. */
  mark(name: string): void {
    this.#queue.push({ mark: name });
  }

  /** Empties it, and returns the marks that were in it. */
  clear(): string[] {
    const marks = this.#queue.flatMap((entry) => ('mark' in entry ? [entry.mark] : []));
    this.#queue.length = 0;
    this.#buffered = 0;
    return marks;
  }

  /** Plays 20 ms, and returns the marks that it reached. */
  frame(atMs: number): string[] {
    const reached: string[] = [];
    let room = FRAME_BYTES;
    const pieces: Uint8Array[] = [];
    for (let next = this.#queue[0]; next !== undefined; next = this.#queue[0]) {
      if ('mark' in next) {
        reached.push(next.mark);
        this.#queue.shift();
        continue;
      }
      if (room === 0) break;
      const piece = next.bytes.subarray(0, room);
      pieces.push(piece);
      room -= piece.length;
      if (piece.length === next.bytes.length) this.#queue.shift();
      else this.#queue[0] = { bytes: next.bytes.subarray(piece.length) };
    }
    const bytes = Buffer.concat(pieces);
    this.#buffered -= bytes.length;
    if (bytes.length > 0) this.heard.push({ atMs, bytes });
    return reached;
  }
}
