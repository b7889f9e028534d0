import { isObject, type Json } from '../../../kernel/json.ts';
import { textMember } from '../../providers/anthropic/read-json.ts';
import type { ResponseEvents } from '../../providers/responses/responses-rail.ts';
import type { ChunkReader } from '../from-chat/message-stream.ts';
import { BETWEEN_MESSAGES } from './completion-of-response.ts';
import { finishReasonOf } from './finish-reason.ts';

/** Members of a chat delta, by the type of the event that extends the same text. */
const TEXTS: ReadonlyMap<unknown, string> = new Map([
  ['response.output_text.delta', 'content'],
  ['response.refusal.delta', 'refusal'],
  ['response.reasoning_summary_text.delta', 'reasoning_content'],
  ['response.reasoning_text.delta', 'reasoning_content'],
]);

/** Translates the events of one response into chunks of chat. */
export class ResponseChunks implements ChunkReader {
  readonly #events: Pick<ResponseEvents, 'response'>;
  /** Output indexes of the calls whose arguments have begun. */
  readonly #begun = new Set<unknown>();
  /** Type of the last item that is a message or a call. */
  #last: unknown;

  constructor(events: Pick<ResponseEvents, 'response'>) {
    this.#events = events;
  }

  chunkOf(event: Json): Json | undefined {
    const { item, output_index: index, response, type } = event;
    const member = TEXTS.get(type);
    if (member !== undefined) return chunk({ [member]: event.delta });
    switch (type) {
      case 'response.created':
        return isObject(response) ? { id: response.id, model: response.model } : undefined;
      case 'response.output_item.added':
        return isObject(item) ? this.#added(item, index) : undefined;
      case 'response.function_call_arguments.delta':
        this.#begun.add(index);
        return chunk(pieceOf(index, {}, event.delta));
      case 'response.output_item.done':
        return isObject(item) ? this.#done(item, index) : undefined;
      default:
        return undefined;
    }
  }

  lastChunk(): Json {
    const response = this.#events.response();
    if (response.status === 'failed') return { error: response.error ?? {} };
    return { choices: [{ finish_reason: finishReasonOf(response) }] };
  }

  #added(item: Json, index: unknown): Json | undefined {
    const { call_id: id, name, type } = item;
    const before = this.#last;
    if (type === 'message' || type === 'function_call') this.#last = type;
    if (type === 'function_call') return chunk(pieceOf(index, { id, name }, ''));
    return type === 'message' && before === 'message'
      ? chunk({ content: BETWEEN_MESSAGES })
      : undefined;
  }

  /** Returns the chunk for arguments that come whole, without earlier deltas. Undefined otherwise. */
  #done(item: Json, index: unknown): Json | undefined {
    const text = textMember(item, 'arguments');
    if (item.type !== 'function_call' || text === '' || this.#begun.has(index)) return undefined;
    return chunk(pieceOf(index, { id: item.call_id, name: item.name }, text));
  }
}

const chunk = (delta: Json): Json => ({ choices: [{ delta }] });

const pieceOf = (
  index: unknown,
  { id, name }: { readonly id?: unknown; readonly name?: unknown },
  text: unknown,
): Json => ({ tool_calls: [{ index, id, function: { name, arguments: text } }] });
