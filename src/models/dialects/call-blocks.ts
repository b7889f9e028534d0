import { signedId } from '../chat/signed-call.ts';
import { MODEL_LIMITS } from '../limits.ts';
import type { AnsweredCall } from './answered-calls.ts';
import type { MessageBlocks } from './message-blocks.ts';

type Block = {
  readonly call: AnsweredCall;
  readonly id: string;
  /** Arguments that are held until the calls before this one are complete. */
  held: string;
};

/** Returns the id of a call: the upstream's, or a new one by the call's place in the answer. */
type IdOf = (given: string, place: number) => string;

/**
 * Writes the calls of a streamed answer as consecutive blocks. Upstreams may interleave calls: the first is written as it
 * comes, and later calls are held until the calls before them are whole or other content follows.
 */
export class CallBlocks {
  readonly #writer: MessageBlocks;
  readonly #names: ReadonlyMap<string, string> | undefined;
  readonly #idOf: IdOf;
  readonly #blocks = new Map<AnsweredCall, Block>();
  /** Calls that have not ended. The first one is the open block. */
  #open: Block[] = [];
  #heldChars = 0;

  /** `names`: the caller's names of tools that the upstream knows under other names. */
  constructor(writer: MessageBlocks, idOf: IdOf, names: ReadonlyMap<string, string> | undefined) {
    this.#writer = writer;
    this.#idOf = idOf;
    this.#names = names;
  }

  /** Number of calls in the answer. */
  get count(): number {
    return this.#blocks.size;
  }

  /** Adds arguments to a call. Throws when the call has ended, or the held arguments exceed their limit. */
  add(call: AnsweredCall, text: string): void {
    const block = this.#blocks.get(call) ?? this.#begin(call);
    if (call.isOver) {
      if (text.trim() === '') return;
      throw new Error('a tool call goes on behind its end');
    }
    if (block !== this.#open[0]) {
      block.held += text;
      this.#heldChars += text.length;
      if (this.#heldChars <= MODEL_LIMITS.chat.heldCallChars) return;
      throw new Error('too much of the tool calls comes side by side');
    }
    this.#writer.input(text);
    while (this.#open.length > 1 && this.#open[0]?.call.isWhole === true) this.#next();
  }

  /** Writes the held calls and ends all calls. Later pieces of them are errors. */
  end(): void {
    while (this.#open.length > 0) this.#next();
  }

  #begin(call: AnsweredCall): Block {
    const id = signedId(this.#idOf(call.id, call.place), call.signature);
    const block = { call, id, held: '' };
    this.#blocks.set(call, block);
    if (this.#open[0]?.call.isWhole === true) this.#next();
    if (this.#open.push(block) === 1) this.#start(block);
    return block;
  }

  #start({ call, id }: Block): void {
    this.#writer.startCall(id, this.#names?.get(call.name) ?? call.name);
  }

  /** Ends the first open call, and writes the next one up to the arguments that it has. */
  #next(): void {
    const [over, next] = this.#open;
    if (over !== undefined) over.call.isOver = true;
    this.#open.shift();
    if (next === undefined) return;
    this.#start(next);
    this.#writer.input(next.held);
    this.#heldChars -= next.held.length;
    next.held = '';
  }
}
