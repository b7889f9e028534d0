import type { Json } from '../../../kernel/json.ts';
import { LIMITS } from '../../../kernel/limits.ts';
import { textMember } from './read-json.ts';
import { writeArguments } from './translate-answer.ts';

type OpenCall = {
  readonly index: number;
  /** Arguments that came with the begin of the call. Usually empty, because arguments follow in deltas. */
  readonly input: string;
  hasArguments: boolean;
};

/**
 * Tool calls of one stream. The dialect numbers blocks of every kind and OpenAI only the calls; each call keeps its first
 * number.
 */
export class ToolCallDeltas {
  readonly #open = new Map<unknown, OpenCall>();
  #calls = 0;

  /**
   * Returns the delta that begins a call. Undefined when the block is no call, or when the answer exceeds the limit of calls.
   */
  start(block: unknown, use: Json): Json | undefined {
    const id = textMember(use, 'id');
    const name = textMember(use, 'name');
    const input = writeArguments(use.input);
    if (id === '' || name === '' || input === undefined || this.#open.has(block)) return undefined;
    if (this.#calls >= LIMITS.toolCallsPerAnswer) return undefined;
    const index = this.#calls++;
    this.#open.set(block, { index, input, hasArguments: false });
    return { index, id, type: 'function', function: { name, arguments: '' } };
  }

  /** Returns the delta with further arguments of a call; undefined when there are none. */
  add(block: unknown, text: string): Json | undefined {
    const call = this.#open.get(block);
    if (call === undefined || text === '') return undefined;
    call.hasArguments = true;
    return { index: call.index, function: { arguments: text } };
  }

  /**
   * Returns a delta with the arguments of a call that got none in deltas, such as a tool without parameters: OpenAI's clients
   * parse the arguments. Undefined for any other block.
   */
  stop(block: unknown): Json | undefined {
    const call = this.#open.get(block);
    this.#open.delete(block);
    if (call === undefined || call.hasArguments) return undefined;
    return { index: call.index, function: { arguments: call.input } };
  }
}
