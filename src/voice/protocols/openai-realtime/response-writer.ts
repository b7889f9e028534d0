import type { TurnCause } from '../../../../machines/voice-turn.ts';
import { newId } from '../../../kernel/ids.ts';
import type { Random } from '../../../kernel/random.ts';
import { samplesOf } from '../../session/audio-format.ts';
import type { ContentPart, Conversation, ConversationItem } from '../../session/conversation.ts';
import { SpokenText } from '../../session/heard-words.ts';
import type { SessionTally } from '../../session/session-tally.ts';
import { errorType } from './error-type.ts';
import type { EventSender } from './event-sender.ts';
import type { SessionConfig } from './session-config.ts';

/** The vendor's usage block, as `response.done` carries it. */
export type ResponseUsage = {
  readonly total_tokens: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly input_token_details: {
    readonly text_tokens: number;
    readonly audio_tokens: number;
    readonly image_tokens: number;
    readonly cached_tokens: number;
    readonly cached_tokens_details: {
      readonly text_tokens: number;
      readonly audio_tokens: number;
      readonly image_tokens: number;
    };
  };
  readonly output_token_details: { readonly text_tokens: number; readonly audio_tokens: number };
};

export type ResponseStatus = 'completed' | 'cancelled' | 'failed' | 'incomplete';

type Message = Extract<ConversationItem, { type: 'message' }>;

/**
 * Writes one response to the client in the order that the protocol fixes, and into the conversation
 * as it grows. `finish` closes whatever is open; `done` is last and waits for the journal.
 */
export class ResponseWriter {
  readonly id: string;
  readonly spoken = new SpokenText();
  readonly #sender: EventSender;
  readonly #tally: Pick<SessionTally, 'answerBegan' | 'spoke'>;
  readonly #bytesPerMs: number;
  /** Undefined: the response is out of band, and only its client hears of it. */
  readonly #conversation: Conversation | undefined;
  readonly #config: SessionConfig;
  readonly #random: Random;
  readonly #conversationId: string;
  readonly #metadata: Readonly<Record<string, string>>;
  readonly #outputCap: number;
  readonly #isShortened: boolean;
  readonly #output: ConversationItem[] = [];
  #message: Message | undefined;
  #isMessageOver = false;
  #cause: TurnCause | undefined;

  constructor(options: {
    readonly sender: EventSender;
    readonly tally: Pick<SessionTally, 'answerBegan' | 'spoke'>;
    readonly conversation: Conversation;
    readonly conversationId: string;
    readonly config: SessionConfig;
    readonly random: Random;
    readonly metadata: Readonly<Record<string, string>>;
    readonly outputCap: number;
    /** Less is held for than the models could say: the response tells its limit. */
    readonly isShortened?: boolean;
    readonly isInConversation: boolean;
  }) {
    this.#sender = options.sender;
    this.#tally = options.tally;
    this.#bytesPerMs = samplesOf(options.config.outputFormat).bytesPerSecond / 1_000;
    this.#conversation = options.isInConversation ? options.conversation : undefined;
    this.#config = options.config;
    this.#random = options.random;
    this.#conversationId = options.conversationId;
    this.#metadata = options.metadata;
    this.#outputCap = options.outputCap;
    this.#isShortened = options.isShortened ?? false;
    this.id = newId(options.random, 'resp_');
  }

  /** The item that is being spoken or written, if one was begun. */
  get messageId(): string | undefined {
    return this.#message?.id;
  }

  /** Nothing of the answer was told yet. */
  get isEmpty(): boolean {
    return this.#message === undefined && this.#output.length === 0;
  }

  created(): void {
    this.#tally.answerBegan();
    this.#sender.send('response.created', { response: this.#render('in_progress', null, {}) });
    this.#sender.send('rate_limits.updated', {
      // What this answer may use: the whole of it is reserved before it begins.
      rate_limits: [
        {
          name: 'tokens',
          limit: this.#outputCap,
          remaining: this.#outputCap,
          reset_seconds: 0,
        },
      ],
    });
  }

  beginMessage(): void {
    const item: Message = {
      id: newId(this.#random, 'item_'),
      object: 'realtime.item',
      type: 'message',
      role: 'assistant',
      status: 'in_progress',
      content: [],
    };
    this.#message = item;
    this.#addItem(item);
    this.#send('response.content_part.added', {
      ...this.#place(),
      part: this.#speaks ? { type: 'audio', transcript: '' } : { type: 'text', text: '' },
    });
  }

  /** The words come before their sound; `text` continues what was sent before. */
  text(delta: string): void {
    const type = this.#speaks
      ? 'response.output_audio_transcript.delta'
      : 'response.output_text.delta';
    this.#send(type, { ...this.#place(), delta });
  }

  audio(bytes: Uint8Array): void {
    this.#tally.spoke(bytes.length / this.#bytesPerMs);
    // Written out: an object that is spread and then added to has a shape of its own each time.
    this.#send('response.output_audio.delta', {
      response_id: this.id,
      item_id: this.#message?.id,
      output_index: this.#output.length,
      content_index: 0,
      delta: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64'),
    });
  }

  callFunction(call: {
    readonly name: string;
    readonly argumentsJson: string;
    /** The upstream's own. */
    readonly callId?: string;
  }): void {
    const item: ConversationItem = {
      id: newId(this.#random, 'item_'),
      object: 'realtime.item',
      type: 'function_call',
      status: 'in_progress',
      call_id: call.callId ?? newId(this.#random, 'call_'),
      name: call.name,
      arguments: '',
    };
    this.#addItem(item);
    const place = {
      response_id: this.id,
      item_id: item.id,
      output_index: this.#output.length,
      call_id: item.call_id,
    };
    this.#sender.send('response.function_call_arguments.delta', {
      ...place,
      delta: call.argumentsJson,
    });
    this.#sender.send('response.function_call_arguments.done', {
      ...place,
      name: call.name,
      arguments: call.argumentsJson,
    });
    this.#itemDone({ ...item, status: 'completed', arguments: call.argumentsJson });
  }

  /** Closes what is open, with the text that was really sent. Nothing but `done` may follow. */
  finish(cause: TurnCause | undefined, sentText: string): void {
    this.#cause = cause;
    this.endMessage(cause, sentText);
  }

  /** Closes the message alone, if it is open: calls may follow. */
  endMessage(cause: TurnCause | undefined, sentText: string): void {
    const message = this.#message;
    if (message === undefined || this.#isMessageOver) return;
    const part: ContentPart = this.#speaks
      ? { type: 'output_audio', transcript: sentText }
      : { type: 'output_text', text: sentText };
    if (this.#speaks) {
      this.#send('response.output_audio.done', this.#place());
      this.#send('response.output_audio_transcript.done', {
        ...this.#place(),
        transcript: sentText,
      });
    } else {
      this.#send('response.output_text.done', { ...this.#place(), text: sentText });
    }
    this.#send('response.content_part.done', {
      ...this.#place(),
      part: this.#speaks
        ? { type: 'audio', transcript: sentText }
        : { type: 'text', text: sentText },
    });
    this.#itemDone({
      ...message,
      status: cause === undefined ? 'completed' : 'incomplete',
      content: [part],
    });
    this.#isMessageOver = true;
    const heard = this.spoken.cut;
    if (heard === undefined) return;
    // Truncated while it was still being spoken: the history keeps what was heard, not what was sent.
    const content: ContentPart[] = [{ type: 'output_audio', transcript: heard }];
    this.#conversation?.replace({ ...message, status: 'incomplete', content });
  }

  done(usage: ResponseUsage, timings: Readonly<Record<string, string>>): void {
    this.#sender.send('response.done', {
      response: this.#render(this.#cause?.kind ?? 'completed', usage, timings),
    });
  }

  get #speaks(): boolean {
    return this.#config.outputModality === 'audio';
  }

  #place() {
    return {
      response_id: this.id,
      item_id: this.#message?.id,
      output_index: this.#output.length,
      content_index: 0,
    };
  }

  #send(type: string, fields: Readonly<Record<string, unknown>>): void {
    this.#sender.send(type, fields);
  }

  #addItem(item: ConversationItem): void {
    const previous = this.#conversation?.lastId ?? null;
    const gone = this.#conversation?.add(item) ?? [];
    this.#send('response.output_item.added', {
      response_id: this.id,
      output_index: this.#output.length,
      item,
    });
    if (this.#conversation === undefined) return;
    this.#send('conversation.item.added', { previous_item_id: previous, item });
    for (const itemId of gone) this.#send('conversation.item.deleted', { item_id: itemId });
  }

  #itemDone(item: ConversationItem): void {
    this.#conversation?.replace(item);
    this.#send('response.output_item.done', {
      response_id: this.id,
      output_index: this.#output.length,
      item,
    });
    this.#output.push(item);
    if (this.#conversation === undefined) return;
    this.#send('conversation.item.done', {
      previous_item_id: this.#conversation.before(item.id),
      item,
    });
  }

  #render(
    status: ResponseStatus | 'in_progress',
    usage: ResponseUsage | null,
    timings: Readonly<Record<string, string>>,
  ): Readonly<Record<string, unknown>> {
    const { outputModality, outputFormat, voice, maxOutputTokens } = this.#config;
    return {
      id: this.id,
      object: 'realtime.response',
      status,
      status_details: this.#statusDetails(),
      output: this.#output,
      conversation_id: this.#conversation === undefined ? null : this.#conversationId,
      output_modalities: [outputModality],
      max_output_tokens: this.#isShortened
        ? Math.min(this.#outputCap, maxOutputTokens === 'inf' ? Infinity : maxOutputTokens)
        : maxOutputTokens,
      audio: { output: { format: outputFormat, voice } },
      metadata: { ...this.#metadata, ...timings },
      usage,
    };
  }

  #statusDetails(): Readonly<Record<string, unknown>> | null {
    const cause = this.#cause;
    if (cause === undefined) return null;
    if (cause.kind !== 'failed') return { type: cause.kind, reason: cause.reason };
    const { code, message } = cause;
    return { type: 'failed', error: { type: errorType(code, 'server_error'), code, message } };
  }
}
