import { isObject, type Json } from '../../kernel/json.ts';
import type { ChatStream } from '../providers/chat-rail.ts';
import { readData } from '../providers/openai/chat-tap.ts';
import { SseEvents } from '../providers/openai/sse-events.ts';
import { priceMembers } from '../purchase/price-in-usage.ts';
import type { Price } from '../purchase/receipt.ts';
import { messageEvent } from './message-events.ts';

/**
 * Relays a Messages stream but holds its last `message_delta` back, so that `last` returns that event with the price in its
 * `usage`.
 */
export class PriceInMessageStream {
  readonly #stream: ChatStream;
  readonly #events = new SseEvents();
  #held: { readonly event: Buffer; readonly data: Json } | undefined;
  /** Error that `next` throws after the held event was sent. */
  #broken: unknown;

  constructor(stream: ChatStream) {
    this.#stream = stream;
  }

  async next(): Promise<Uint8Array | undefined> {
    for (;;) {
      if (this.#broken !== undefined) throw this.#broken;
      const piece = await this.#read();
      if (piece === undefined) return undefined;
      if (piece.length > 0) return piece;
    }
  }

  stop(): void {
    this.#stream.stop();
  }

  /** Returns the held `message_delta` with the price. Empty for a stream without a `message_delta`. */
  last(price: Price): Uint8Array {
    if (this.#held === undefined) return Buffer.alloc(0);
    const { type: _, usage, ...rest } = this.#held.data;
    const counts = isObject(usage) ? usage : {};
    return Buffer.from(
      messageEvent('message_delta', { ...rest, usage: { ...counts, ...priceMembers(price) } }),
    );
  }

  async #read(): Promise<Buffer | undefined> {
    let piece: Uint8Array | undefined;
    try {
      piece = await this.#stream.next();
    } catch (error) {
      // The client gets the events from before the break.
      if (this.#held === undefined) throw error;
      this.#broken = error;
      return this.#release();
    }
    if (piece === undefined) return undefined;
    const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
    const sent: Buffer[] = [];
    for (const event of this.#events.push(bytes)) {
      // Content events before the first `message_delta` are not parsed.
      const isRead = event[0] !== COMMENT && (this.#held !== undefined || event.includes(DELTA));
      sent.push(isRead ? this.#take(event, await readData(event)) : event);
    }
    return Buffer.concat(sent);
  }

  /**
   * Returns the bytes to send at an event: the event itself unless it is held, behind a held event that it must not overtake.
   */
  #take(event: Buffer, data: unknown): Buffer {
    const type = isObject(data) ? data.type : undefined;
    if (isObject(data) && type === 'message_delta') {
      const earlier = this.#release();
      this.#held = { event, data };
      return earlier;
    }
    return CONTENT.has(type) ? Buffer.concat([this.#release(), event]) : event;
  }

  #release(): Buffer {
    const { event } = this.#held ?? { event: Buffer.alloc(0) };
    this.#held = undefined;
    return event;
  }
}

const COMMENT = 0x3a;
/** Content events, which must not follow the last `message_delta`: a held one is sent before them. */
const CONTENT: ReadonlySet<unknown> = new Set([
  'content_block_start',
  'content_block_delta',
  'content_block_stop',
]);
const DELTA = Buffer.from('message_delta');
