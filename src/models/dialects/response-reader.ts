import { isObject, type Json } from '../../kernel/json.ts';
import { MODEL_LIMITS } from '../limits.ts';
import { BETWEEN_MESSAGES } from '../messages/responses/completion-of-response.ts';
import { finishReasonOf } from '../messages/responses/finish-reason.ts';
import { textMember } from '../providers/anthropic/read-json.ts';
import { readData } from '../providers/openai/chat-tap.ts';
import { dataLines } from '../providers/openai/data-lines.ts';
import { SseEvents } from '../providers/openai/sse-events.ts';
import { readPlainDelta } from '../providers/responses/plain-delta.ts';
import type { ResponseEvents } from '../providers/responses/responses-rail.ts';
import type { AnswerSource, Tell } from './answer-event.ts';
import { AnsweredCall } from './answered-calls.ts';

/** Kinds of the events that extend a text, by their type. */
const TEXTS: ReadonlyMap<unknown, 'text' | 'refusal' | 'thought'> = new Map([
  ['response.output_text.delta', 'text'],
  ['response.refusal.delta', 'refusal'],
  ['response.reasoning_summary_text.delta', 'thought'],
  ['response.reasoning_text.delta', 'thought'],
]);

/** Reads the events of one response. */
export class ResponseReader implements AnswerSource {
  readonly #stream: Pick<ResponseEvents, 'next' | 'metered' | 'stop' | 'response'>;
  readonly #events = new SseEvents();
  /** The last call at each index of the output. */
  readonly #calls = new Map<unknown, AnsweredCall>();
  #count = 0;
  /** Calls that have got arguments. */
  readonly #begun = new Set<AnsweredCall>();
  /** Type of the last item that is a message or a call. */
  #last: unknown;

  constructor(stream: Pick<ResponseEvents, 'next' | 'metered' | 'stop' | 'response'>) {
    this.#stream = stream;
  }

  async read(tell: Tell): Promise<boolean> {
    const piece = await this.#stream.next();
    if (piece === undefined) {
      this.#end(tell);
      return false;
    }
    const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
    for (const event of this.#events.push(bytes)) {
      if (event[0] === COMMENT) tell({ kind: 'alive' });
      else if (!tellPlainText(event, tell)) this.#take(await readData(event), tell);
    }
    return true;
  }

  metered() {
    return this.#stream.metered();
  }

  stop(): void {
    this.#stream.stop();
  }

  #take(event: unknown, tell: Tell): void {
    if (!isObject(event)) return;
    const { item, output_index: index, response, type } = event;
    const kind = TEXTS.get(type);
    if (kind !== undefined) {
      say(kind, textMember(event, 'delta'), tell);
    } else if (type === 'response.created' && isObject(response)) {
      tell({ kind: 'begin', id: textMember(response, 'id'), model: textMember(response, 'model') });
    } else if (type === 'response.output_item.added' && isObject(item)) {
      this.#added(item, index, tell);
    } else if (type === 'response.function_call_arguments.delta') {
      this.#add(this.#callAt(index), textMember(event, 'delta'), tell);
    } else if (type === 'response.output_item.done' && isObject(item)) {
      this.#done(item, index, tell);
    }
  }

  #added(item: Json, index: unknown, tell: Tell): void {
    const before = this.#last;
    const { type } = item;
    if (type === 'message' || type === 'function_call') this.#last = type;
    if (type === 'function_call') tell({ kind: 'call', call: this.#callAt(index, item), text: '' });
    if (type === 'message' && before === 'message') tell({ kind: 'text', text: BETWEEN_MESSAGES });
  }

  /** Tells arguments that come whole, without earlier deltas. */
  #done(item: Json, index: unknown, tell: Tell): void {
    if (item.type !== 'function_call') return;
    const call = this.#callAt(index, item);
    if (!this.#begun.has(call)) this.#add(call, textMember(item, 'arguments'), tell);
  }

  #add(call: AnsweredCall, text: string, tell: Tell): void {
    if (text === '') return;
    this.#begun.add(call);
    call.push(text);
    tell({ kind: 'call', call, text });
  }

  #callAt(index: unknown, item: Json = {}): AnsweredCall {
    const id = textMember(item, 'call_id');
    const known = this.#calls.get(index);
    // Some upstreams number no items, or all alike.
    const isKnown = id === '' || known?.id === '' || known?.id === id;
    if (known !== undefined && isKnown) return known;
    const { toolCalls: most } = MODEL_LIMITS.chat;
    if (this.#count >= most) throw new Error(`an answer has more than ${most} tool calls`);
    const call = new AnsweredCall(this.#count++, undefined);
    call.id = id;
    call.name = textMember(item, 'name');
    this.#calls.set(index, call);
    return call;
  }

  #end(tell: Tell): void {
    const response = this.#stream.response();
    if (response.status !== 'failed') tell({ kind: 'end', reason: finishReasonOf(response) });
    else tell({ kind: 'error', error: isObject(response.error) ? response.error : {} });
  }
}

const COMMENT = 0x3a;

/** Tells the text of a delta without parsing its event. Returns false when the event must be parsed. */
function tellPlainText(event: Buffer, tell: Tell): boolean {
  const data = dataLines(event);
  const plain = data && readPlainDelta(data);
  const kind = TEXTS.get(plain?.type);
  if (data === undefined || plain === undefined || kind === undefined) return false;
  say(kind, data.toString('latin1', plain.start, plain.start + plain.chars), tell);
  return true;
}

function say(kind: 'text' | 'refusal' | 'thought', text: string, tell: Tell): void {
  if (text !== '') tell({ kind, text });
}
