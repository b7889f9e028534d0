import { isObject, type Json } from '../../kernel/json.ts';
import { LIMITS } from '../../kernel/limits.ts';
import { parseData } from '../../rails/chat-tap.ts';
import { SseEvents } from '../../rails/sse-events.ts';
import type { ReplyPiece } from '../realtime/legs.ts';

type PartialCall = { name: string; callId: string; argumentsJson: string };

/** Reads the events of a streamed chat as pieces of an answer: words as they come, calls when they are whole. */
export class ChatPieces {
  readonly #events = new SseEvents();
  /** By their number in the answer. */
  readonly #calls = new Map<number, PartialCall>();

  /** The answer ended because it had become too long. */
  isCut = false;

  /** The words in a chunk of whole events. */
  push(chunk: Uint8Array): ReplyPiece[] {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    return this.#events.push(bytes).flatMap((event) => this.#read(parseData(event)));
  }

  /** The calls, in their order. */
  end(): ReplyPiece[] {
    const calls = [...this.#calls.entries()].sort(([a], [b]) => a - b).map(([, call]) => call);
    return calls
      .filter(({ name }) => name !== '')
      .map(({ argumentsJson, callId, name }) => ({
        ...{ kind: 'call', name, argumentsJson: argumentsJson === '' ? '{}' : argumentsJson },
        ...(callId !== '' && { callId }),
      }));
  }

  #read(event: unknown): ReplyPiece[] {
    const choice = isObject(event) && Array.isArray(event.choices) ? event.choices[0] : undefined;
    if (!isObject(choice)) return [];
    if (choice.finish_reason === 'length') this.isCut = true;
    const { delta } = choice;
    if (!isObject(delta)) return [];
    if (Array.isArray(delta.tool_calls)) for (const call of delta.tool_calls) this.#call(call);
    const words = [delta.content, delta.refusal].filter((text) => typeof text === 'string');
    return words.filter((text) => text !== '').map((text) => ({ kind: 'text', text }));
  }

  #call(delta: unknown): void {
    if (!isObject(delta)) return;
    const index = typeof delta.index === 'number' ? delta.index : 0;
    const given: Json = isObject(delta.function) ? delta.function : {};
    let call = this.#calls.get(index);
    if (call === undefined) {
      if (this.#calls.size >= LIMITS.realtimeTools) return;
      call = { name: '', callId: '', argumentsJson: '' };
      this.#calls.set(index, call);
    }
    if (typeof delta.id === 'string' && call.callId === '') call.callId = delta.id.slice(0, 64);
    if (typeof given.name === 'string') call.name ||= given.name.slice(0, 128);
    if (typeof given.arguments !== 'string') return;
    // What is longer than an item may be could not be sent back.
    const room = LIMITS.realtimeItemChars - call.argumentsJson.length;
    call.argumentsJson += given.arguments.slice(0, room);
  }
}
