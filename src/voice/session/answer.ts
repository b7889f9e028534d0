import type { TurnCause } from '../../../machines/voice-turn.ts';
import { bytesPerMs } from '../../../media/coding.ts';
import { newId } from '../../kernel/ids.ts';
import type { Random } from '../../kernel/random.ts';
import type { SessionTally } from '../live/session-tally.ts';
import type { AnswerReceipt, AnswerRequest } from './answer-request.ts';
import type { AddedItem, Conversation, ConversationItem } from './conversation.ts';
import { SpokenText } from './heard-words.ts';
import type { AnswerClient } from './voice-client.ts';
import type { BrokenCall } from './voice-pipeline.ts';

type Message = Extract<ConversationItem, { type: 'message' }>;

/**
 * One answer of the server. Its items enter the conversation and go to the client; `done` comes last and waits for the journal.
 */
export class Answer {
  readonly spoken = new SpokenText();
  readonly #client: AnswerClient;
  readonly #tally: Pick<SessionTally, 'answerBegan' | 'spoke'>;
  readonly #random: Random;
  readonly #bytesPerMs: number;
  readonly #isText: boolean;
  /** Undefined for an out-of-band answer, which only its client receives. */
  readonly #conversation: Conversation | undefined;
  #message: Message | undefined;
  #isMessageOver = false;
  #hasItems = false;
  #cause: TurnCause | undefined;

  constructor(options: {
    readonly client: AnswerClient;
    readonly tally: Pick<SessionTally, 'answerBegan' | 'spoke'>;
    readonly conversation: Conversation;
    readonly random: Random;
    readonly request: Pick<AnswerRequest, 'config' | 'isInConversation'>;
  }) {
    const { config, isInConversation } = options.request;
    this.#client = options.client;
    this.#tally = options.tally;
    this.#random = options.random;
    this.#bytesPerMs = bytesPerMs(config.outputFormat);
    this.#isText = config.outputModality === 'text';
    this.#conversation = isInConversation ? options.conversation : undefined;
  }

  get id(): string {
    return this.#client.id;
  }

  /** Returns the id of the message that is being spoken or written; undefined when the answer has no open message. */
  get messageId(): string | undefined {
    return this.#message?.id;
  }

  /** True while the client has received no item of the answer. */
  get isEmpty(): boolean {
    return !this.#hasItems;
  }

  created(): void {
    this.#tally.answerBegan();
    this.#client.created();
  }

  beginMessage(): void {
    this.#message = {
      id: newId(this.#random, 'item_'),
      type: 'message',
      role: 'assistant',
      status: 'in_progress',
      content: [],
    };
    this.#add(this.#message);
  }

  text(delta: string): void {
    this.#client.text(delta);
  }

  audio(bytes: Uint8Array): void {
    this.#tally.spoke(bytes.length / this.#bytesPerMs);
    this.#client.audio(bytes);
  }

  callFunction(call: {
    readonly name: string;
    readonly argumentsJson: string;
    /** The upstream's id of the function call. */
    readonly callId?: string;
  }): void {
    const item = {
      id: newId(this.#random, 'item_'),
      type: 'function_call',
      status: 'in_progress',
      callId: call.callId ?? newId(this.#random, 'call_'),
      name: call.name,
      arguments: '',
    } as const;
    this.#add(item);
    const { callId, id, name } = item;
    this.#complete({
      id,
      type: 'function_call',
      status: 'completed',
      callId,
      name,
      arguments: call.argumentsJson,
    });
  }

  /**
   * Reports a function call that cannot be executed to a client that executes calls itself. The call enters the conversation
   * without arguments.
   */
  breakCall({ callId, name, problem }: Omit<BrokenCall, 'kind'>): void {
    if (this.#client.callBroken === undefined) return;
    const item = {
      id: newId(this.#random, 'item_'),
      type: 'function_call',
      status: 'incomplete',
      callId: callId ?? newId(this.#random, 'call_'),
      name,
      arguments: '{}',
    } as const;
    this.#conversation?.add(item);
    this.#client.callBroken(item, problem);
  }

  /** Closes the open message, with the text that was really sent. Only `done` may follow. */
  finish(cause: TurnCause | undefined, sentText: string): void {
    this.#cause = cause;
    const isCut = cause?.kind === 'failed' && !this.#isText;
    if (isCut) this.spoken.cutAt(this.spoken.durationMs);
    // A sentence whose sound broke off is kept as far as it is heard.
    this.endMessage(cause, isCut ? (this.spoken.cut ?? sentText) : sentText);
  }

  /** Closes the open message. Function calls may follow. */
  endMessage(cause: TurnCause | undefined, sentText: string): void {
    const message = this.#message;
    if (message === undefined || this.#isMessageOver) return;
    const { id, role } = message;
    const status = cause === undefined ? 'completed' : 'incomplete';
    const part = this.#isText
      ? ({ type: 'text', text: sentText } as const)
      : ({ type: 'speech', transcript: sentText } as const);
    this.#complete({ id, type: 'message', role, status, content: [part] });
    this.#isMessageOver = true;
    const heard = this.spoken.cut;
    if (heard === undefined) return;
    const content = [{ type: 'speech', transcript: heard }] as const;
    this.#conversation?.replace({ id, type: 'message', role, status: 'incomplete', content });
  }

  done(receipt: AnswerReceipt | undefined): void {
    this.#client.done(this.#cause, receipt);
  }

  #add(item: ConversationItem): void {
    const aside: AddedItem = { item, previousId: null, evictedIds: [] };
    this.#client.itemAdded(this.#conversation?.add(item) ?? aside);
    this.#hasItems = true;
  }

  #complete(item: ConversationItem): void {
    this.#conversation?.replace(item);
    this.#client.itemDone(item, this.#conversation?.before(item.id) ?? null);
  }
}
