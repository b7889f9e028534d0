import { isObject, type Json } from '../../../kernel/json.ts';
import { LIMITS } from '../../../kernel/limits.ts';
import { ObjectEnd } from '../../chat/object-end.ts';
import { argumentsText } from '../../chat/read-answer.ts';
import { textMember } from '../../providers/anthropic/read-json.ts';
import { StreamBroken } from '../../providers/openai/answer-reader.ts';
import type { MessageWriter } from './message-writer.ts';

type Call = {
  /** As its upstream gave it; empty as long as it gave none. */
  givenId: string;
  readonly id: string;
  readonly name: string;
  readonly end: ObjectEnd;
  /** Arguments that wait until the calls before it are whole. */
  held: string;
  isOver: boolean;
};

/**
 * Writes the calls of a streamed answer one behind the other, as the dialect has its blocks. Upstreams may send them side by
 * side: the first goes on as it comes, and the others are held until those before them are whole or the answer says something else.
 */
export class CallBlocks {
  readonly #writer: MessageWriter;
  /** By the number that the upstream gives it last. */
  readonly #numbered = new Map<number, Call>();
  readonly #named = new Map<string, Call>();
  /** Calls that are not over. The first is the block that is open. */
  #open: Call[] = [];
  #heldChars = 0;
  #count = 0;

  constructor(writer: MessageWriter) {
    this.#writer = writer;
  }

  /** How many there were. */
  get count(): number {
    return this.#count;
  }

  /** Takes the pieces of calls that one chunk has. Ids that the upstream leaves out are made of their place in the answer. */
  hear(pieces: unknown, idOf: (given: string, place: number) => string): StreamBroken | undefined {
    for (const [at, piece] of (Array.isArray(pieces) ? (pieces as unknown[]) : []).entries()) {
      const broken = isObject(piece) ? this.#take(piece, at, idOf) : undefined;
      if (broken !== undefined) return broken;
    }
    return undefined;
  }

  /** Writes what is held. No call goes on behind this. */
  end(): void {
    while (this.#open.length > 0) this.#next();
  }

  #take(
    piece: Json,
    at: number,
    idOf: (given: string, place: number) => string,
  ): StreamBroken | undefined {
    const called = isObject(piece.function) ? piece.function : {};
    const [given, name] = [textMember(piece, 'id'), textMember(called, 'name')];
    const text = argumentsText(called.arguments);
    const isBlank = text.trim() === '';
    let call = this.#find(piece.index, given);
    // Upstreams that number all calls alike, or none, begin the next one with its name.
    const isNext = name !== '' && given === '' && !isBlank && call?.end.isWhole === true;
    const isListed = typeof piece.index !== 'number' && given === '' && name !== '' && at > 0;
    if (call === undefined || isNext || isListed) {
      if (isBlank && given === '' && name === '') return undefined;
      if (this.#count >= LIMITS.toolCallsPerAnswer) {
        return new StreamBroken('there is one tool call too many');
      }
      call = this.#begin({ givenId: given, id: idOf(given, this.#count), name });
    }
    if (typeof piece.index === 'number') this.#numbered.set(piece.index, call);
    if (given !== '') {
      call.givenId = given;
      this.#named.set(given, call);
    }
    return this.#add(call, text);
  }

  /** The call that a piece is of; undefined where it begins one. */
  #find(index: unknown, given: string): Call | undefined {
    if (typeof index !== 'number') {
      return given === '' ? this.#open.at(-1) : this.#named.get(given);
    }
    const call = this.#numbered.get(index);
    const isOther = given !== '' && call !== undefined && !['', given].includes(call.givenId);
    return isOther ? this.#named.get(given) : call;
  }

  #begin(call: Pick<Call, 'givenId' | 'id' | 'name'>): Call {
    const begun = { ...call, end: new ObjectEnd(), held: '', isOver: false };
    if (this.#open[0]?.end.isWhole === true) this.#next();
    this.#count++;
    if (this.#open.push(begun) === 1) this.#writer.startCall(begun.id, begun.name);
    return begun;
  }

  #add(call: Call, text: string): StreamBroken | undefined {
    if (text === '') return undefined;
    if (call.isOver) {
      return text.trim() === ''
        ? undefined
        : new StreamBroken('a tool call goes on behind its end');
    }
    call.end.push(text);
    if (call !== this.#open[0]) {
      call.held += text;
      this.#heldChars += text.length;
      return this.#heldChars > LIMITS.heldCallChars
        ? new StreamBroken('too much of its tool calls comes side by side')
        : undefined;
    }
    this.#writer.input(text);
    while (this.#open.length > 1 && this.#open[0]?.end.isWhole === true) this.#next();
    return undefined;
  }

  /** The first call is over: the one behind it is written as far as it has come. */
  #next(): void {
    const [over, next] = this.#open;
    if (over !== undefined) over.isOver = true;
    this.#open.shift();
    if (next === undefined) return;
    this.#writer.startCall(next.id, next.name);
    this.#writer.input(next.held);
    this.#heldChars -= next.held.length;
    next.held = '';
  }
}
