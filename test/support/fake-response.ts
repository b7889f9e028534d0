import type { HttpResponse } from 'uWebSockets.js';

/** Stands where the socket library stands, and is as unforgiving: a call after the end throws. */
export class FakeResponse {
  status = '';
  readonly headers: [string, string][] = [];
  body = '';
  ended = false;
  closed = false;
  /** While true, writes are taken but answered with "wait". */
  isFull = false;
  isPaused = false;
  #aborted: (() => void) | undefined;
  #writable: ((offset: number) => boolean) | undefined;
  #offset = 0;
  #data: ((chunk: ArrayBuffer, isLast: boolean) => void) | undefined;

  readonly asResponse = this as unknown as HttpResponse;

  onAborted(handler: () => void): void {
    this.#aborted = handler;
  }
  onWritable(handler: (offset: number) => boolean): void {
    this.#writable = handler;
  }
  onData(handler: (chunk: ArrayBuffer, isLast: boolean) => void): void {
    this.#data = handler;
  }
  pause(): void {
    this.#alive();
    this.isPaused = true;
  }
  resume(): void {
    this.#alive();
    this.isPaused = false;
  }
  cork(work: () => void): void {
    this.#alive();
    work();
  }
  writeStatus(status: string): void {
    this.#alive();
    this.status = status;
  }
  writeHeader(name: string, value: string): void {
    this.#alive();
    this.headers.push([name, value]);
  }
  write(chunk: Uint8Array): boolean {
    this.#alive();
    this.body += Buffer.from(chunk).toString();
    return !this.isFull;
  }
  /** Takes all of a body, or its first half while the client takes no more. */
  tryEnd(body: string | Uint8Array, totalBytes: number): [boolean, boolean] {
    this.#alive();
    const bytes = Buffer.from(body);
    const taken = this.isFull ? bytes.subarray(0, Math.floor(bytes.length / 2)) : bytes;
    this.body += taken.toString();
    this.#offset += taken.length;
    this.ended = this.#offset === totalBytes;
    return [taken.length === bytes.length, this.ended];
  }
  end(body?: string | Uint8Array): void {
    this.#alive();
    if (body !== undefined) this.body += Buffer.from(body).toString();
    this.ended = true;
  }
  endWithoutBody(): void {
    this.end();
  }
  close(): void {
    this.#alive();
    this.closed = true;
    this.abort();
  }
  getRemoteAddressAsText(): ArrayBuffer {
    this.#alive();
    return new TextEncoder().encode('127.0.0.1').buffer as ArrayBuffer;
  }

  /** The client goes away. */
  abort(): void {
    this.ended = true;
    this.#aborted?.();
  }
  /** The client has caught up. */
  drain(): void {
    this.isFull = false;
    this.#writable?.(this.#offset);
  }
  /** A piece of the body arrives; its memory is taken back at once, as in life. */
  receive(bytes: string | Uint8Array, isLast: boolean): void {
    const chunk = Uint8Array.from(Buffer.from(bytes));
    this.#data?.(chunk.buffer, isLast);
    chunk.fill(0);
  }

  #alive(): void {
    if (this.ended) throw new Error('the response is over');
  }
}
