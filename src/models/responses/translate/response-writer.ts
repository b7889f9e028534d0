import { JSON_LIMITS } from '../../../kernel/json/limits.ts';
import { withMembers } from '../../../kernel/json/write-json.ts';
import type { Json } from '../../../kernel/json.ts';
import { signedId } from '../../chat/signed-call.ts';
import type { AnswerEvent, AnswerWriter } from '../../dialects/answer-event.ts';
import type { AnsweredCall } from '../../dialects/answered-calls.ts';
import { ReportedError } from '../../providers/reported-error.ts';
import { writeEvent } from '../../providers/responses/response-event.ts';
import { responseUsage } from '../../providers/responses/response-usage.ts';
import { RESPONSES_LIMITS } from '../limits.ts';
import type { ResponseHead } from '../response-head.ts';
import { CALL_PREFIXES, CallItem } from './call-item.ts';
import {
  type ItemPlace,
  type ItemStatus,
  MessageItem,
  type OutputItem,
  ReasoningItem,
} from './output-items.ts';
import type { ToolNames } from './tool-names.ts';

/**
 * Reasons of an incomplete response, by the `finish_reason` of the chat answer. Any other finish reason completes the response.
 */
const INCOMPLETE: Readonly<Record<string, string>> = {
  length: 'max_output_tokens',
  content_filter: 'content_filter',
};

type WrittenEvent = Parameters<typeof writeEvent>[0];

const { outputParts } = RESPONSES_LIMITS.answer;

/**
 * Writes a response and its events, in the order of the answer. Thoughts, text, refusals and calls become items, each of which
 * ends before the next begins. Only a call with incomplete arguments stays open, since upstreams may interleave calls.
 */
export class ResponseWriter implements AnswerWriter {
  /** JSON of the response's members that repeat its request, without braces. */
  readonly echo: string;
  readonly #head: ResponseHead;
  readonly #model: string;
  readonly #newItemId: (prefix: string) => string;
  readonly #names: ToolNames;
  readonly #isStream: boolean;
  readonly #items: OutputItem[] = [];
  /** Undefined before the first call, because most answers have none. */
  #callItems: Map<AnsweredCall, CallItem> | undefined;
  /** Events that were not taken yet. Deltas are stored as text; other events are serialised when they are taken. */
  #events: (string | WrittenEvent)[] = [];
  #sequence = 0;
  #status: ItemStatus = 'in_progress';
  #incomplete: Json | null = null;
  #reason: string | undefined;
  #usage: Json | undefined;

  constructor(options: {
    readonly head: ResponseHead;
    readonly model: string;
    readonly newItemId: (prefix: string) => string;
    readonly names: ToolNames;
    readonly isStream: boolean;
  }) {
    this.#head = options.head;
    this.echo = options.head.echo();
    this.#model = options.model;
    this.#newItemId = options.newItemId;
    this.#names = options.names;
    this.#isStream = options.isStream;
    if (!this.#isStream) return;
    const written = withMembers(JSON.stringify(this.response()), this.echo);
    this.#emitWritten('response.created', `"response":${written}`);
    this.#emitWritten('response.in_progress', `"response":${written}`);
  }

  /**
   * Removes and returns the text of the next events; empty when no event waits. Takes some milliseconds at most, because four
   * events at the end of a long answer repeat all of it. Call it again while `hasMore`.
   */
  take(): string {
    let text = '';
    let taken = 0;
    while (taken < this.#events.length && text.length < JSON_LIMITS.bytesPerTurn) {
      const event = this.#events[taken++] as string | WrittenEvent;
      text += typeof event === 'string' ? event : writeEvent(event);
    }
    this.#events.splice(0, taken);
    return text;
  }

  /** True while events wait to be taken. */
  get hasMore(): boolean {
    return this.#events.length > 0;
  }

  /** Sequence number of the next event. */
  get sequence(): number {
    return this.#sequence;
  }

  /** Usage that the upstream has reported. Undefined: none. */
  get usage(): Json | undefined {
    return this.#usage;
  }

  /** Throws when the event reports an error, the answer has too many items, or a call continues after its end. */
  write(event: AnswerEvent): void {
    switch (event.kind) {
      case 'text':
        this.#message().say(event.text, event.logprobs ?? []);
        break;
      case 'refusal':
        this.#message().refuse(event.text);
        break;
      case 'thought':
        this.#thoughts().say(event.text);
        break;
      case 'call':
        (this.#callItems?.get(event.call) ?? this.#beginCall(event.call)).add(event.text);
        break;
      case 'usage':
        this.#usage = responseUsage(event.usage, event.reasoningTokens);
        break;
      case 'end':
        this.#reason = event.reason;
        break;
      case 'alive':
        this.#events.push(':\n\n');
        break;
      case 'error':
        throw new ReportedError(event.error);
      case 'begin':
    }
  }

  /** Closes the items at the end of the answer. The writer of the stream writes the last event. */
  finish(): void {
    const why = INCOMPLETE[String(this.#reason)];
    if (this.#items.length === 0 && why === undefined) this.#message();
    const status = why === undefined ? 'completed' : 'incomplete';
    for (const item of this.#items) item.close(status);
    this.#status = status;
    this.#incomplete = why === undefined ? null : { reason: why };
  }

  /** Returns the response so far, without the members of `echo`. */
  response(usage: Json | null = null): Json {
    const { createdSec, id, isKept } = this.#head;
    return {
      id,
      object: 'response',
      created_at: createdSec,
      status: this.#status,
      background: false,
      error: null,
      incomplete_details: this.#incomplete,
      model: this.#model,
      output: this.#items.map((item) => item.shown()),
      store: isKept,
      usage,
    };
  }

  #thoughts(): ReasoningItem {
    const open = this.#openItem();
    return open instanceof ReasoningItem ? open : this.#begin(ReasoningItem, 'rs_');
  }

  #message(): MessageItem {
    const open = this.#openItem();
    return open instanceof MessageItem ? open : this.#begin(MessageItem, 'msg_');
  }

  #openItem(): OutputItem | undefined {
    const last = this.#items.at(-1);
    return last?.isOpen === true ? last : undefined;
  }

  #begin<T extends OutputItem>(Item: new (place: ItemPlace) => T, prefix: string): T {
    const place = this.#nextPlace(prefix);
    const item = new Item(place);
    this.#items.push(item);
    return item;
  }

  #beginCall(call: AnsweredCall): CallItem {
    const { id, name, signature } = call;
    const own = id === '' ? this.#newItemId('call_') : id;
    const callId = signedId(own, signature);
    const tool = this.#names.get(name) ?? { kind: 'function', name };
    const item = new CallItem(this.#nextPlace(CALL_PREFIXES[tool.kind]), { ...tool, callId }, call);
    this.#items.push(item);
    this.#callItems ??= new Map();
    this.#callItems.set(call, item);
    return item;
  }

  /** Returns the place of the next item. Ends the last item, unless it is a call whose arguments may go on. */
  #nextPlace(prefix: string): ItemPlace {
    if (this.#items.length >= outputParts) {
      throw new Error(`an answer has more than ${outputParts} items`);
    }
    const last = this.#items.at(-1);
    if (!(last instanceof CallItem) || last.isWhole) last?.close('completed');
    return {
      id: this.#newItemId(prefix),
      outputIndex: this.#items.length,
      emit: this.#isStream ? (type, fields) => this.#emit(type, fields) : undefined,
      emitWritten: this.#isStream ? (type, members) => this.#emitWritten(type, members) : undefined,
    };
  }

  #emit(type: string, fields: Json): void {
    this.#events.push({ type, sequence_number: this.#sequence++, ...fields });
  }

  /** Emits an event whose members are JSON text. */
  #emitWritten(type: string, members: string): void {
    const sequence = this.#sequence++;
    const data = `{"type":"${type}","sequence_number":${sequence},${members}}`;
    this.#events.push(`event: ${type}\ndata: ${data}\n\n`);
  }
}
