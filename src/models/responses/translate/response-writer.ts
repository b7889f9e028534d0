import { withMembers } from '../../../kernel/json/write-json.ts';
import type { Json } from '../../../kernel/json.ts';
import { LIMITS } from '../../../kernel/limits.ts';
import { type AnsweredCall, AnsweredCalls, type HeardCall } from '../../chat/answered-calls.ts';
import { signedId } from '../../chat/signed-call.ts';
import { writeEvent } from '../../providers/responses/response-event.ts';
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

const { outputParts } = LIMITS.responses;

/**
 * Builds a response and its events from a chat answer, in the answer's order. Thoughts, words, refusals and calls become items,
 * each of which ends before the next begins. Only a call with incomplete arguments stays open, since some upstreams interleave
 * calls.
 */
export class ResponseWriter {
  /** JSON of the response's members that repeat its request, without braces. */
  readonly echo: string;
  readonly #head: ResponseHead;
  readonly #model: string;
  readonly #newItemId: (prefix: string) => string;
  readonly #names: ToolNames;
  readonly #isStream: boolean;
  readonly #items: OutputItem[] = [];
  /** Tool calls of the answer. Undefined before the first call, because most answers have none. */
  #calls: AnsweredCalls | undefined;
  #callItems: Map<AnsweredCall, CallItem> | undefined;
  readonly #signsCalls: boolean;
  /** Events that were not taken yet. Deltas are stored as text; other events are serialised when they are taken. */
  #events: (string | WrittenEvent)[] = [];
  #sequence = 0;
  #status: ItemStatus = 'in_progress';
  #incomplete: Json | null = null;

  constructor(options: {
    readonly head: ResponseHead;
    readonly model: string;
    readonly newItemId: (prefix: string) => string;
    readonly names: ToolNames;
    readonly isStream: boolean;
    /** True when the upstream signs its calls, so that their ids carry the signatures. */
    readonly signsCalls?: boolean | undefined;
  }) {
    this.#head = options.head;
    this.echo = options.head.echo();
    this.#model = options.model;
    this.#newItemId = options.newItemId;
    this.#names = options.names;
    this.#isStream = options.isStream;
    this.#signsCalls = options.signsCalls === true;
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
    while (taken < this.#events.length && text.length < LIMITS.jsonBytesPerTurn) {
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

  think(text: string): void {
    if (text === '') return;
    this.#release();
    const open = this.#openItem();
    const item = open instanceof ReasoningItem ? open : this.#begin(ReasoningItem, 'rs_');
    item.say(text);
  }

  say(text: string, logprobs: readonly unknown[] = []): void {
    if (text !== '') this.#message().say(text, logprobs);
  }

  refuse(text: string): void {
    if (text !== '') this.#message().refuse(text);
  }

  /** Adds the pieces of calls in a delta. Throws when the answer has too many calls, or a call continues after its end. */
  call(pieces: unknown): void {
    if (!Array.isArray(pieces)) return;
    this.#calls ??= new AnsweredCalls({ waitsForSignature: this.#signsCalls });
    this.#tell(this.#calls.hear(pieces));
  }

  /** Closes the items at the end of the answer. The writer of the stream writes the last event. */
  finish(reason: unknown): void {
    this.#release();
    const why = INCOMPLETE[String(reason)];
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

  #message(): MessageItem {
    this.#release();
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

  #release(): void {
    if (this.#calls !== undefined) this.#tell(this.#calls.release());
  }

  #tell(heard: Iterable<HeardCall>): void {
    for (const { call, text } of heard) {
      const item = this.#callItems?.get(call) ?? this.#beginCall(call);
      item.add(text);
    }
  }

  #beginCall(call: AnsweredCall): CallItem {
    const { id, name, signature } = call;
    const own = id === '' ? this.#newItemId('call_') : id;
    const callId = this.#signsCalls ? signedId(own, signature) : own;
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
