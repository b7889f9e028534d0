import type { Json } from '../../../kernel/json.ts';
import { LIMITS } from '../../../kernel/limits.ts';
import { textMember } from './read-json.ts';
import { writeArguments } from './translate-answer.ts';

type OpenCall = {
  readonly index: number;
  /** Its arguments as they came with its beginning; nothing when they come by and by, as they mostly do. */
  readonly input: string;
  hasArguments: boolean;
};

/**
 * The tool calls of one stream. The dialect numbers blocks of every kind, OpenAI the calls alone; each call
 * keeps the number that it was first given.
 */
export class ToolCallDeltas {
  readonly #open = new Map<unknown, OpenCall>();
  #calls = 0;

  /** Undefined: it is no call, or one more than is followed. */
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

  /** More of a call's arguments; undefined where there is no more. */
  add(block: unknown, text: string): Json | undefined {
    const call = this.#open.get(block);
    if (call === undefined || text === '') return undefined;
    call.hasArguments = true;
    return { index: call.index, function: { arguments: text } };
  }

  /** A tool without parameters is called without a delta; OpenAI's readers parse what they were given. */
  stop(block: unknown): Json | undefined {
    const call = this.#open.get(block);
    this.#open.delete(block);
    if (call === undefined || call.hasArguments) return undefined;
    return { index: call.index, function: { arguments: call.input } };
  }
}
