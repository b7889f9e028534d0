import { JSON_LIMITS } from '../../kernel/json/limits.ts';
import { isLongJson } from '../../kernel/json/parse-json.ts';
import { parseJsonInTurns } from '../../kernel/json/parse-json-in-turns.ts';
import type { Json } from '../../kernel/json.ts';
import { turnForLongWork } from '../../kernel/long-work.ts';
import { MODEL_LIMITS } from '../limits.ts';
import { MessageTap } from '../providers/anthropic/message-tap.ts';
import { readPlainDelta } from '../providers/anthropic/plain-delta.ts';
import { member, textMember } from '../providers/anthropic/read-json.ts';
import { finishReasonOf, writeArguments } from '../providers/anthropic/translate-answer.ts';
import type { OpenedAnswer } from '../providers/open-answer.ts';
import { StreamBroken } from '../providers/openai/answer-reader.ts';
import { readData } from '../providers/openai/chat-tap.ts';
import { dataOf } from '../providers/openai/data-lines.ts';
import { EventReader } from '../providers/openai/event-reader.ts';
import type { AnswerEvent, AnswerSource, Tell } from './answer-event.ts';
import { AnsweredCall } from './answered-calls.ts';

type OpenCall = {
  readonly call: AnsweredCall;
  /** Arguments that came with the begin of the call. Usually empty, because arguments follow in deltas. */
  readonly input: string;
  hasArguments: boolean;
};

/**
 * Reads the events of a Messages stream. Thoughts are metered and not told: the vendor takes them back only with their
 * signatures, which the other dialects cannot carry.
 */
export class MessageReader implements AnswerSource {
  readonly #events: EventReader;
  readonly #tap = new MessageTap();
  /** Calls that have not ended, by the number of their block. */
  readonly #open = new Map<unknown, OpenCall>();
  #calls = 0;
  #hasEnd = false;
  /** Event that `begin` has read. */
  #first: AnswerEvent | undefined;
  /** Events of the last piece that were not read yet. */
  #waiting: Buffer[] = [];

  constructor(answer: OpenedAnswer) {
    this.#events = new EventReader(answer);
  }

  /**
   * Resolves when the message has begun. Throws StreamBroken when the upstream breaks before that and has delivered nothing.
   */
  async begin(): Promise<void> {
    const keep = (event: AnswerEvent) => {
      this.#first = event;
    };
    try {
      while (!this.#tap.hasBegun) if (!(await this.#pull(keep))) this.#tap.requireReason();
    } catch (error) {
      this.stop();
      throw error;
    }
  }

  async read(tell: Tell): Promise<boolean> {
    const first = this.#first;
    this.#first = undefined;
    if (first !== undefined) tell(first);
    return first !== undefined && this.#waiting.length === 0 ? true : this.#pull(tell);
  }

  metered() {
    const { note, ...reported } = this.#tap.usage.metered();
    const named = () => {
      const { finishReasons, model } = note?.() ?? {};
      return { model, finishReasons: finishReasons?.map(finishReasonOf) };
    };
    return { ...reported, note: named };
  }

  stop(): void {
    this.#events.stop();
  }

  /** Tells the events of the next piece: up to `message_start` when the message begins in it. Returns false at the end. */
  async #pull(tell: Tell): Promise<boolean> {
    if (this.#waiting.length === 0) {
      if (this.#events.isOver) return false;
      const events = await this.#events.read();
      if (events === undefined) {
        this.#tap.requireReason();
        this.#tellUsage(tell);
        return false;
      }
      this.#waiting = events;
    }
    const { hasBegun } = this.#tap;
    for (let event = this.#waiting.shift(); event !== undefined; event = this.#waiting.shift()) {
      if (isLongJson(event)) await turnForLongWork();
      const plain = hasBegun ? readPlainDelta(event) : undefined;
      if (plain !== undefined) {
        const { chars, index, start, type } = plain;
        this.#tap.usage.wrote(chars);
        this.#add(type, index, event.toString('latin1', start, start + chars), tell);
      } else if (event[0] !== COMMENT && !this.#take(await readEvent(event), tell)) {
        this.#waiting = [];
        this.#events.finish();
        this.#tellUsage(tell);
        return true;
      }
      if (this.#tap.hasBegun !== hasBegun) return true;
    }
    return true;
  }

  /** Tells the content of an event. Returns false at the end of the stream. */
  #take(parsed: unknown, tell: Tell): boolean {
    const looked = this.#tap.look(parsed);
    if (looked === undefined) return false;
    const { data, type } = looked;
    if (type === 'message_start') {
      const message = member(data, 'message');
      tell({ kind: 'begin', id: textMember(message, 'id'), model: textMember(message, 'model') });
    } else if (type === 'content_block_start') {
      this.#begin(data.index, member(data, 'content_block'), tell);
    } else if (type === 'content_block_delta') {
      const delta = member(data, 'delta');
      const text = textMember(delta, 'text') || textMember(delta, 'partial_json');
      this.#add(delta.type, data.index, text, tell);
    } else if (type === 'content_block_stop') {
      this.#stop(data.index, tell);
    } else if (type === 'message_delta') {
      this.#end(member(data, 'delta').stop_reason, tell);
    }
    return true;
  }

  #begin(index: unknown, block: Json, tell: Tell): void {
    if (block.type === 'text') this.#add('text_delta', index, textMember(block, 'text'), tell);
    if (block.type !== 'tool_use') return;
    const id = textMember(block, 'id');
    const name = textMember(block, 'name');
    const input = writeArguments(block.input);
    const isCall = id !== '' && name !== '' && input !== undefined && !this.#open.has(index);
    if (!isCall || this.#calls >= MODEL_LIMITS.chat.toolCalls) {
      throw new StreamBroken('a tool call is none, or one too many');
    }
    const call = new AnsweredCall(this.#calls++, undefined);
    call.id = id;
    call.name = name;
    this.#open.set(index, { call, input, hasArguments: false });
    tell({ kind: 'call', call, text: '' });
  }

  #add(type: unknown, index: unknown, text: string, tell: Tell): void {
    if (text === '') return;
    if (type === 'text_delta') tell({ kind: 'text', text });
    const open = type === 'input_json_delta' ? this.#open.get(index) : undefined;
    if (open === undefined) return;
    open.hasArguments = true;
    open.call.push(text);
    tell({ kind: 'call', call: open.call, text });
  }

  /** Ends a block. A call that got no arguments in deltas, such as one of a tool without parameters, gets those of its begin. */
  #stop(index: unknown, tell: Tell): void {
    const open = this.#open.get(index);
    if (open?.hasArguments === false) this.#add('input_json_delta', index, open.input, tell);
    this.#open.delete(index);
  }

  #end(reason: unknown, tell: Tell): void {
    if (typeof reason !== 'string' || this.#hasEnd) return;
    this.#hasEnd = true;
    tell({ kind: 'end', reason: finishReasonOf(reason) });
  }

  #tellUsage(tell: Tell): void {
    const { usage } = this.#tap.usage.metered();
    if (usage !== null) tell({ kind: 'usage', usage });
  }
}

const COMMENT = 0x3a;
const TOOL_USE = Buffer.from('"tool_use"');

/** Parses an event. Numbers in the input of a tool call keep their digits (docs/decisions/0118). */
const readEvent = (event: Buffer): unknown =>
  event.includes(TOOL_USE) ? readDigits(event) : readData(event);

async function readDigits(event: Buffer): Promise<unknown> {
  const data = dataOf(event);
  if (data === undefined) return undefined;
  return await parseJsonInTurns(data, JSON_LIMITS.upstream).catch(() => undefined);
}
