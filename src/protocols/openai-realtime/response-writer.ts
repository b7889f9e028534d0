import type { TurnCause } from '../../../machines/voice-turn.ts';
import { newId } from '../../kernel/ids.ts';
import type { Random } from '../../kernel/random.ts';
import type { AnswerReceipt, AnswerRequest } from '../../voice/session/answer-request.ts';
import {
  type AddedItem,
  type ConversationItem,
  partText,
} from '../../voice/session/conversation.ts';
import type { AnswerClient } from '../../voice/session/voice-client.ts';
import { renderAudioFormat } from './audio-format.ts';
import { type EventSender, errorType } from './event-sender.ts';
import { renderItem } from './render-item.ts';
import { NO_USAGE, renderReceipt, renderUsage } from './response-usage.ts';

type Fields = Readonly<Record<string, unknown>>;
type Message = Extract<ConversationItem, { type: 'message' }>;
type Call = Extract<ConversationItem, { type: 'function_call' }>;

/** Writes one response to the client, with its events in the order of the protocol. */
export class ResponseWriter implements AnswerClient {
  readonly id: string;
  readonly #sender: EventSender;
  readonly #conversationId: string;
  readonly #request: AnswerRequest;
  readonly #outputCap: number;
  readonly #isShortened: boolean;
  /** Output items that are complete. */
  readonly #output: Fields[] = [];
  /** Id of the item that is being written. */
  #itemId: string | undefined;

  constructor(options: {
    readonly sender: EventSender;
    readonly random: Random;
    readonly conversationId: string;
    readonly request: AnswerRequest;
    readonly outputCap: number;
    readonly isShortened: boolean;
  }) {
    this.#sender = options.sender;
    this.#conversationId = options.conversationId;
    this.#request = options.request;
    this.#outputCap = options.outputCap;
    this.#isShortened = options.isShortened;
    this.id = newId(options.random, 'resp_');
  }

  created(): void {
    this.#sender.send('response.created', { response: this.#render('in_progress', undefined) });
    this.#sender.send('rate_limits.updated', {
      // Output tokens of this answer. All of them are held before the answer begins.
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

  itemAdded({ evictedIds, item, previousId }: AddedItem): void {
    this.#itemId = item.id;
    const shown = renderItem(item);
    this.#sender.send('response.output_item.added', {
      response_id: this.id,
      output_index: this.#output.length,
      item: shown,
    });
    if (this.#request.isInConversation) {
      const added = { previous_item_id: previousId, item: shown };
      this.#sender.send('conversation.item.added', added);
      for (const id of evictedIds) this.#sender.send('conversation.item.deleted', { item_id: id });
    }
    if (item.type !== 'message') return;
    this.#sender.send('response.content_part.added', {
      ...this.#place(),
      part: this.#speaks ? { type: 'audio', transcript: '' } : { type: 'text', text: '' },
    });
  }

  text(delta: string): void {
    const type = this.#speaks
      ? 'response.output_audio_transcript.delta'
      : 'response.output_text.delta';
    this.#sender.send(type, { ...this.#place(), delta });
  }

  audio(bytes: Uint8Array): void {
    // The members are written out: a spread object that grows later gets a hidden class of its own each time.
    this.#sender.send('response.output_audio.delta', {
      response_id: this.id,
      item_id: this.#itemId,
      output_index: this.#output.length,
      content_index: 0,
      delta: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64'),
    });
  }

  itemDone(item: ConversationItem, previousId: string | null): void {
    if (item.type === 'message') this.#messageDone(item);
    if (item.type === 'function_call') this.#callDone(item);
    const shown = renderItem(item);
    this.#sender.send('response.output_item.done', {
      response_id: this.id,
      output_index: this.#output.length,
      item: shown,
    });
    this.#output.push(shown);
    if (!this.#request.isInConversation) return;
    const done = { previous_item_id: previousId, item: shown };
    this.#sender.send('conversation.item.done', done);
  }

  done(cause: TurnCause | undefined, receipt: AnswerReceipt | undefined): void {
    this.#sender.send('response.done', {
      response: this.#render(cause?.kind ?? 'completed', cause, receipt),
    });
  }

  #messageDone({ content }: Message): void {
    const text = content.map(partText).join('');
    const place = this.#place();
    if (this.#speaks) {
      this.#sender.send('response.output_audio.done', place);
      this.#sender.send('response.output_audio_transcript.done', { ...place, transcript: text });
    } else {
      this.#sender.send('response.output_text.done', { ...place, text });
    }
    this.#sender.send('response.content_part.done', {
      ...place,
      part: this.#speaks ? { type: 'audio', transcript: text } : { type: 'text', text },
    });
  }

  #callDone(call: Call): void {
    const place = {
      response_id: this.id,
      item_id: call.id,
      output_index: this.#output.length,
      call_id: call.callId,
    };
    const { arguments: given, name } = call;
    this.#sender.send('response.function_call_arguments.delta', { ...place, delta: given });
    this.#sender.send('response.function_call_arguments.done', {
      ...place,
      name,
      arguments: given,
    });
  }

  get #speaks(): boolean {
    return this.#request.config.outputModality === 'audio';
  }

  #place(): Fields {
    return {
      response_id: this.id,
      item_id: this.#itemId,
      output_index: this.#output.length,
      content_index: 0,
    };
  }

  #render(
    status: TurnCause['kind'] | 'in_progress' | 'completed',
    cause: TurnCause | undefined,
    receipt?: AnswerReceipt,
  ): Fields {
    const { config, isInConversation, metadata } = this.#request;
    const { outputModality, outputFormat, voice, maxOutputTokens } = config;
    const usage = status === 'in_progress' ? null : NO_USAGE;
    return {
      id: this.id,
      object: 'realtime.response',
      status,
      status_details: renderCause(cause),
      output: this.#output,
      conversation_id: isInConversation ? this.#conversationId : null,
      output_modalities: [outputModality],
      max_output_tokens: this.#isShortened
        ? Math.min(this.#outputCap, maxOutputTokens === 'inf' ? Infinity : maxOutputTokens)
        : maxOutputTokens,
      audio: { output: { format: renderAudioFormat(outputFormat), voice } },
      metadata: { ...metadata, ...(receipt && renderReceipt(receipt)) },
      usage: receipt === undefined ? usage : renderUsage(receipt.tokens),
    };
  }
}

function renderCause(cause: TurnCause | undefined): Fields | null {
  if (cause === undefined) return null;
  if (cause.kind !== 'failed') return { type: cause.kind, reason: cause.reason };
  const { code, message } = cause;
  return { type: 'failed', error: { type: errorType(code, 'server_error'), code, message } };
}
