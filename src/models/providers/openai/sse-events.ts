import { MODEL_LIMITS } from '../../limits.ts';

const LF = 0x0a;
const CR = 0x0d;

/** Thrown when an event exceeds its byte limit, or the bytes are no event stream. */
class EventTooLarge extends Error {
  override readonly name = 'EventTooLarge';
}

/**
 * Splits a stream of server-sent events after their blank lines. Input chunks may end anywhere: in a line, a character, or a
 * CRLF. Returns the bytes unchanged, in complete events.
 */
export class SseEvents {
  /** Received bytes of the event that is not whole yet. */
  #rest: Buffer[] = [];
  #restBytes = 0;
  /** Content of the current line up to now: nothing, a carriage return alone, or more. */
  #line: 'empty' | 'return' | 'text' = 'empty';

  /** Returns the events that the chunk completes, each with its blank line. Throws EventTooLarge. */
  push(chunk: Buffer): Buffer[] {
    const events: Buffer[] = [];
    let start = 0;
    let at = chunk.indexOf(LF);
    let lineStart = 0;
    while (at !== -1) {
      if (this.#endsEvent(chunk, lineStart, at)) {
        events.push(this.#whole(chunk.subarray(start, at + 1)));
        start = at + 1;
      }
      this.#line = 'empty';
      lineStart = at + 1;
      at = chunk.indexOf(LF, lineStart);
    }
    if (start < chunk.length) this.#keep(chunk.subarray(start), chunk.subarray(lineStart));
    return events;
  }

  /** Returns the bytes after the last complete event. */
  rest(): Buffer {
    return Buffer.concat(this.#rest, this.#restBytes);
  }

  /** Returns true when the line before a line feed is empty, except for the carriage return of a CRLF. */
  #endsEvent(chunk: Buffer, from: number, to: number): boolean {
    return this.#lineWith(chunk, from, to) !== 'text';
  }

  #lineWith(bytes: Buffer, from: number, to: number): 'empty' | 'return' | 'text' {
    if (to === from) return this.#line;
    const isReturn = to === from + 1 && bytes[from] === CR;
    return isReturn && this.#line === 'empty' ? 'return' : 'text';
  }

  #whole(last: Buffer): Buffer {
    if (this.#restBytes === 0) return last;
    const event = Buffer.concat([...this.#rest, last], this.#restBytes + last.length);
    this.#rest = [];
    this.#restBytes = 0;
    return event;
  }

  #keep(bytes: Buffer, line: Buffer): void {
    this.#rest.push(bytes);
    this.#restBytes += bytes.length;
    if (this.#restBytes > MODEL_LIMITS.upstream.sseEventBytes) {
      throw new EventTooLarge(
        `an event is larger than ${MODEL_LIMITS.upstream.sseEventBytes} bytes`,
      );
    }
    this.#line = this.#lineWith(line, 0, line.length);
    // Many tiny chunks are joined: a buffer for each byte would cost more memory than the text.
    if (this.#rest.length >= 64) this.#rest = [Buffer.concat(this.#rest, this.#restBytes)];
  }
}
