import { isObject } from '../../kernel/json.ts';
import type { ChatStream } from '../providers/chat-rail.ts';
import { carriesUsage, readData } from '../providers/openai/chat-tap.ts';
import { SseEvents } from '../providers/openai/sse-events.ts';
import { priceInBody } from '../purchase/price-in-usage.ts';
import type { Price } from '../purchase/receipt.ts';
import type { ChatRequest } from './chat-request.ts';

/** Returns the request with the stream option that adds the event with the usage. */
export const withUsage = (body: ChatRequest): ChatRequest =>
  body.stream === true
    ? { ...body, stream_options: { ...asObject(body.stream_options), include_usage: true } }
    : body;

const asObject = (value: unknown): object =>
  typeof value === 'object' && value !== null ? value : {};

/** Relays a chat stream but holds its event of usage back, so that `last` returns that event with the price. */
export class PriceInChatStream {
  readonly #stream: ChatStream;
  readonly #events = new SseEvents();
  #usage: Buffer | undefined;

  constructor(stream: ChatStream) {
    this.#stream = stream;
  }

  async next(): Promise<Uint8Array | undefined> {
    for (;;) {
      const piece = await this.#stream.next();
      if (piece === undefined) return undefined;
      const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
      const relayed: Buffer[] = [];
      for (const event of this.#events.push(bytes)) {
        if (!carriesUsage(event) || !(await this.#keeps(event))) relayed.push(event);
      }
      if (relayed.length > 0) return relayed.length === 1 ? relayed[0] : Buffer.concat(relayed);
    }
  }

  stop(): void {
    this.#stream.stop();
  }

  /** Returns the event of usage with the price. When the stream had no such event, returns an event with only the price. */
  last(price: Price): Uint8Array {
    const usage = this.#usage ?? NO_USAGE;
    return Buffer.concat([priceInEvent(usage, price), Buffer.from('\n\n')]);
  }

  /**
   * Stores the usage of an event and returns true when the event has no choices: `last` sends it then, with the price. An event
   * with choices passes at once, and a copy of its usage without the choices is sent last.
   */
  async #keeps(event: Buffer): Promise<boolean> {
    const chunk = await readData(event);
    if (!isObject(chunk) || !Array.isArray(chunk.choices)) return false;
    const isAlone = chunk.choices.length === 0;
    this.#usage = isAlone
      ? event
      : Buffer.from(`data: ${JSON.stringify({ ...chunk, choices: [] })}\n\n`);
    return isAlone;
  }
}

const NO_USAGE = Buffer.from('data: {"object":"chat.completion.chunk","choices":[]}\n\n');

const priceInEvent = (event: Buffer, price: Price): Uint8Array =>
  priceInBody(Buffer.from(event.toString('utf8').trimEnd()), price);
