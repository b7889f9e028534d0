import { isLongJson } from '../../../kernel/json/parse-json.ts';
import { parseJsonInTurns } from '../../../kernel/json/parse-json-in-turns.ts';
import { isObject, type Json } from '../../../kernel/json.ts';
import { LIMITS } from '../../../kernel/limits.ts';
import { turnForLongWork } from '../../../kernel/long-work.ts';
import type { ChatCompletion, ChatStream, TokenUsage } from '../../providers/chat-rail.ts';
import { StreamBroken } from '../../providers/openai/answer-reader.ts';
import { readData } from '../../providers/openai/chat-tap.ts';
import { ChunkTemplate } from '../../providers/openai/chunk-template.ts';
import { SseEvents } from '../../providers/openai/sse-events.ts';
import { ReportedError } from '../../providers/reported-error.ts';
import { responseUsage } from '../../providers/responses/response-usage.ts';
import type { ResponseEvents, WholeResponse } from '../../providers/responses/responses-rail.ts';
import type { ResponseHead } from '../response-head.ts';
import { firstChoice, translateUsage, writeMessage } from './read-chat.ts';
import { ResponseWriter } from './response-writer.ts';
import type { ToolNames } from './tool-names.ts';

export type Translation = {
  readonly head: ResponseHead;
  /** Name of the model in the response. */
  readonly model: string;
  readonly newItemId: (prefix: string) => string;
  /** Caller's tools, by their names in chat. */
  readonly names: ToolNames;
  /** Estimates the usage of an answer of `answerChars` characters, for an upstream that reports none. */
  readonly estimate: (answerChars: number) => TokenUsage;
  /** True when the upstream signs its calls, so that their ids carry the signatures. */
  readonly signsCalls?: boolean | undefined;
};

/** Translates a whole chat answer to a response. Undefined when it is no completion. */
export async function translateCompletion(
  completion: ChatCompletion,
  { estimate, head, model, names, newItemId, signsCalls }: Translation,
): Promise<WholeResponse | undefined> {
  const { answerChars, note, usage } = completion;
  const told = completion.json ?? (await readJson(completion.body));
  const choice = isObject(told) ? firstChoice(told) : undefined;
  if (!isObject(told) || !isObject(choice?.message)) return undefined;
  const writer = new ResponseWriter({ head, model, newItemId, names, isStream: false, signsCalls });
  try {
    writeMessage(writer, choice.message, choice.logprobs);
    writer.finish(choice.finish_reason);
  } catch {
    return undefined;
  }
  const used = translateUsage(told.usage) ?? responseUsage(estimate(answerChars));
  return { response: writer.response(used), echo: writer.echo, usage, answerChars, note };
}

function readJson(body: Uint8Array): Promise<unknown> {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  return parseJsonInTurns(bytes, LIMITS.upstreamJson).catch(() => undefined);
}

/**
 * Turns a chat stream into the events of a response. When the chat stream breaks, the events of its delivered part are sent
 * first: they have their numbers already, and their content is charged.
 */
export class TranslatedResponse implements ResponseEvents {
  readonly #chat: ChatStream;
  readonly #events = new SseEvents();
  readonly #alike = new ChunkTemplate();
  readonly #writer: ResponseWriter;
  readonly #estimate: Translation['estimate'];
  #usage: Json | undefined;
  #reason: unknown;
  /** Keep-alive comments of the upstream that were not relayed yet. */
  #signs = '';
  #isOver = false;
  /** Error that `next` throws after the events before it were read. */
  #broken: StreamBroken | undefined;

  constructor(
    chat: ChatStream,
    { estimate, head, model, names, newItemId, signsCalls }: Translation,
  ) {
    this.#chat = chat;
    this.#estimate = estimate;
    this.#writer = new ResponseWriter({
      head,
      model,
      newItemId,
      names,
      isStream: true,
      signsCalls,
    });
  }

  async next(): Promise<Uint8Array | undefined> {
    if (this.#writer.hasMore) {
      await turnForLongWork();
      return Buffer.from(this.#writer.take());
    }
    while (!this.#isOver) {
      const piece = await this.#chat.next();
      try {
        if (piece === undefined) this.#finish();
        else await this.#read(Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength));
      } catch (cause) {
        this.#breakOff(cause);
      }
      if (piece !== undefined && isLongJson(piece)) await turnForLongWork();
      const events = this.#signs + this.#writer.take();
      this.#signs = '';
      if (events !== '') return Buffer.from(events);
    }
    if (this.#broken !== undefined) throw this.#broken;
    return undefined;
  }

  metered() {
    return this.#chat.metered();
  }

  response(): Json {
    return this.#writer.response(this.#usage ?? responseUsage(this.#used()));
  }

  get echo(): string {
    return this.#writer.echo;
  }

  sequence(): number {
    return this.#writer.sequence;
  }

  stop(): void {
    this.#isOver = true;
    this.#chat.stop();
  }

  #used(): TokenUsage {
    const { answerChars, usage } = this.#chat.metered();
    return usage ?? this.#estimate(answerChars);
  }

  /** Reads the events of a piece. Throws when an event reports an error, or the writer refuses it. */
  async #read(piece: Buffer): Promise<void> {
    for (const event of this.#events.push(piece)) {
      const text = this.#alike.textOf(event);
      if (text === undefined) this.#look(event, await readData(event));
      else this.#writer.say(text);
    }
  }

  #look(event: Buffer, chunk: unknown): void {
    if (!isObject(chunk)) {
      if (event[0] === COLON) this.#signs += event.toString('latin1');
      return;
    }
    if (isObject(chunk.error)) throw new ReportedError(chunk.error);
    this.#alike.remember(event, chunk);
    this.#usage = translateUsage(chunk.usage) ?? this.#usage;
    const choice = firstChoice(chunk);
    if (choice === undefined) return;
    if (isObject(choice.delta)) writeMessage(this.#writer, choice.delta, choice.logprobs);
    if (typeof choice.finish_reason === 'string') this.#reason = choice.finish_reason;
  }

  #finish(): void {
    this.#isOver = true;
    this.#writer.finish(this.#reason);
  }

  #breakOff(cause: unknown): void {
    this.stop();
    this.#broken =
      cause instanceof StreamBroken
        ? cause
        : new StreamBroken('a delta cannot be added to the response', { cause });
  }
}

const COLON = 0x3a;
