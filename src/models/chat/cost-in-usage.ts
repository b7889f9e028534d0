import { topMember } from '../../kernel/json/top-member.ts';
import { isObject } from '../../kernel/json.ts';
import type { ChatStream } from '../providers/chat-rail.ts';
import { carriesUsage, parseData } from '../providers/openai/chat-tap.ts';
import { SseEvents } from '../providers/openai/sse-events.ts';
import type { ChatRequest } from './chat-request.ts';

/**
 * The price of a chat in the answer itself, as `usage.cost_raw`: raw USDC, a decimal text. For callers whose client shows
 * neither headers nor the comments of a stream.
 */

const OPEN = 0x7b;
const CLOSE = 0x7d;
const USAGE = Buffer.from('usage');

const member = (costRaw: bigint): string => `"cost_raw":"${costRaw}"`;

/** The same request with the event of a stream that carries its usage. */
export const withUsage = (body: ChatRequest): ChatRequest =>
  body.stream === true
    ? { ...body, stream_options: { ...asObject(body.stream_options), include_usage: true } }
    : body;

const asObject = (value: unknown): object =>
  typeof value === 'object' && value !== null ? value : {};

/** A JSON object whose `usage` says the price. All other bytes stay the same; what is no object is returned unchanged. */
export function costInBody(body: Uint8Array, costRaw: bigint): Uint8Array {
  const json = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const usage = topMember(json, USAGE);
  if (usage === undefined) return withMember(json, `"usage":{${member(costRaw)}}`);
  const [start, end] = usage;
  const written =
    json[start] === OPEN
      ? withMember(json.subarray(start, end), member(costRaw))
      : Buffer.from(`{${member(costRaw)}}`);
  return Buffer.concat([json.subarray(0, start), written, json.subarray(end)]);
}

/** The object with one member more, at its end. */
function withMember(json: Buffer, text: string): Buffer {
  const close = json.lastIndexOf(CLOSE);
  if (close === -1) return json;
  const head = json.subarray(0, close);
  const isEmpty = head.toString('latin1').trimEnd().endsWith('{');
  return Buffer.concat([head, Buffer.from(isEmpty ? text : `,${text}`), json.subarray(close)]);
}

/** A stream without its event of usage, which comes last, with the price. */
export class CostInStream {
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
      const relayed = this.#events.push(bytes).filter((event) => !this.#keeps(event));
      if (relayed.length > 0) return relayed.length === 1 ? relayed[0] : Buffer.concat(relayed);
    }
  }

  stop(): void {
    this.#stream.stop();
  }

  /** Of a stream that has none, the event of usage says the price alone. */
  last(costRaw: bigint): Uint8Array {
    const usage = this.#usage ?? NO_USAGE;
    return Buffer.concat([costInEvent(usage, costRaw), Buffer.from('\n\n')]);
  }

  /**
   * Whether the event is sent last, with the price. An event with choices passes at once; a copy of its usage without the
   * choices is sent last.
   */
  #keeps(event: Buffer): boolean {
    if (!carriesUsage(event)) return false;
    const chunk = parseData(event);
    if (!isObject(chunk) || !Array.isArray(chunk.choices)) return false;
    const isAlone = chunk.choices.length === 0;
    this.#usage = isAlone
      ? event
      : Buffer.from(`data: ${JSON.stringify({ ...chunk, choices: [] })}\n\n`);
    return isAlone;
  }
}

const NO_USAGE = Buffer.from('data: {"object":"chat.completion.chunk","choices":[]}\n\n');

const costInEvent = (event: Buffer, costRaw: bigint): Uint8Array =>
  costInBody(Buffer.from(event.toString('utf8').trimEnd()), costRaw);
