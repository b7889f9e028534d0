import type { SentEvent } from './voice-world.ts';
import { describeClosed, TestSocket } from './web-socket-client.ts';

/** A client of one of the two voice sockets: it parses what it hears and waits for what it needs. */
export class RealtimeClient extends TestSocket {
  readonly events: SentEvent[] = [];
  /** When each event came, by its index. */
  readonly cameAtMs: number[] = [];
  #waiting: { readonly test: (event: SentEvent) => boolean; readonly done: () => void }[] = [];

  constructor(url: string, protocols: string[] = [], headers: Record<string, string> = {}) {
    super(url, protocols, headers);
    this.ws.on('message', (data: Buffer, isBinary: boolean) => {
      if (isBinary) return;
      const event = JSON.parse(data.toString()) as SentEvent;
      this.events.push(event);
      this.cameAtMs.push(performance.now());
      for (const waiter of this.#waiting) if (waiter.test(event)) waiter.done();
    });
  }

  /** The first event that passes, be it here already or still to come. */
  async until(test: (event: SentEvent) => boolean, withinMs = 10_000): Promise<SentEvent> {
    const known = this.events.find(test);
    if (known !== undefined) return known;
    return new Promise((resolve, reject) => {
      const fail = (why: string) => {
        clearTimeout(timer);
        reject(new Error(`not among ${this.types().join(', ')}; ${why}`));
      };
      const timer = setTimeout(() => fail(`waited ${withinMs} ms`), withinMs);
      void this.closed.then((closed) => fail(describeClosed(closed)));
      const waiter = {
        test,
        done: () => {
          clearTimeout(timer);
          this.#waiting = this.#waiting.filter((other) => other !== waiter);
          resolve(this.events.at(-1) as SentEvent);
        },
      };
      this.#waiting.push(waiter);
    });
  }

  of(type: string): SentEvent[] {
    return this.events.filter((event) => event.type === type);
  }

  types(): string[] {
    return this.events.map(({ type }) => type);
  }

  say(event: Readonly<Record<string, unknown>>): void {
    this.ws.send(JSON.stringify(event));
  }

  /** Sends bytes at the pace of a live speaker. */
  async stream(
    bytes: Uint8Array,
    pace: { readonly bytesPerSecond: number; readonly send: (chunk: Uint8Array) => void },
  ): Promise<void> {
    const step = pace.bytesPerSecond / 10;
    const startMs = performance.now();
    for (let at = 0, sent = 0; at < bytes.length; at += step, sent++) {
      pace.send(bytes.subarray(at, at + step));
      const waitMs = startMs + (sent + 1) * 100 - performance.now();
      if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
    }
  }
}
