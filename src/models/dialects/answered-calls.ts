import { isObject } from '../../kernel/json.ts';
import { argumentsText } from '../chat/read-answer.ts';
import { signatureOf } from '../chat/signed-call.ts';
import { MODEL_LIMITS } from '../limits.ts';
import { ObjectEnd } from './object-end.ts';

/** Fields of a call in one delta of an upstream. */
type Piece = {
  readonly index: number | undefined;
  /** Position of the delta in a chunk that has several calls; undefined when the chunk has one. */
  readonly at: number | undefined;
  readonly id: string;
  readonly name: string;
  readonly text: string;
  readonly signature: string;
  readonly isBlank: boolean;
};

/** One tool call of an answer, up to the last delta that the upstream has sent. */
export class AnsweredCall {
  /** Number of calls before this one in the answer. */
  readonly place: number;
  /** First `index` that the upstream gave the call. Undefined when the upstream gave none. */
  readonly index: number | undefined;
  id = '';
  name = '';
  signature = '';
  /** True when the writer of the answer has written the end of the call. Set by the writer. */
  isOver = false;
  /**
   * True when the upstream repeated the call's name after its end, so that the next arguments belong to another call of that
   * name.
   */
  isNamedAgain = false;
  /** True when `hear` has yielded the call. */
  isTold = false;
  /** Arguments that came before `hear` yielded the call. */
  held = '';
  readonly #end = new ObjectEnd();

  constructor(place: number, index: number | undefined) {
    this.place = place;
    this.index = index;
  }

  /** True when the arguments are a whole JSON object, so that no more can follow. */
  get isWhole(): boolean {
    return this.#end.isWhole;
  }

  push(text: string): void {
    this.#end.push(text);
  }
}

/** Piece of the arguments of a call. The first piece of a call may be empty. */
export type HeardCall = { readonly call: AnsweredCall; readonly text: string };

/**
 * Assigns each delta of an answer's tool calls to its call. Upstreams mark calls by a number, by an id, by both or not at all;
 * when the number does not distinguish calls, a name begins the next call.
 */
export class AnsweredCalls {
  /** Calls by the latest `index` that the upstream used for them. */
  readonly #numbered = new Map<number, AnsweredCall>();
  /** Calls of the last chunk that had several calls without an `index`, by their place in the chunk. */
  readonly #listed = new Map<number, AnsweredCall>();
  readonly #named = new Map<string, AnsweredCall>();
  readonly #waitsForSignature: boolean;
  /** Call that the latest delta belongs to. */
  #last: AnsweredCall | undefined;
  #count = 0;
  /** First call, while it is held back because its signature has not come. */
  #unsigned: AnsweredCall | undefined;
  /** Signature that came before its call. */
  #signature = '';

  /**
   * `waitsForSignature`: the upstream signs its calls. `hear` yields the first call only after its signature has come, or a
   * further call or `release`. Otherwise signatures are not read.
   */
  constructor({ waitsForSignature = false }: { readonly waitsForSignature?: boolean } = {}) {
    this.#waitsForSignature = waitsForSignature;
  }

  /**
   * Reads the `tool_calls` of a chunk or of a whole answer. Yields a call when it has a name or arguments, and each piece
   * before it reads the next. Throws when an answer exceeds the limit of calls or of held arguments.
   */
  *hear(pieces: unknown): Generator<HeardCall> {
    if (!Array.isArray(pieces)) return;
    for (const [at, given] of (pieces as unknown[]).entries()) {
      const piece = this.#read(given, pieces.length > 1 ? at : undefined);
      if (piece !== undefined) yield* this.#take(piece);
    }
  }

  /** Yields the call that waits for its signature. Called before any other content, and at the end of the answer. */
  release(): readonly HeardCall[] {
    const call = this.#unsigned;
    this.#unsigned = undefined;
    return call === undefined ? NONE : [...this.#tell(call)];
  }

  *#take(piece: Piece): Generator<HeardCall> {
    const { at, id, index, isBlank, name, signature, text } = piece;
    const before = this.#callBefore(piece);
    const found = this.#find(piece, before);
    let call = found !== undefined && isNextBehind(found, piece) ? undefined : found;
    if (call === undefined) {
      if (isBlank && id === '' && name === '') {
        this.#signature ||= signature;
        return;
      }
      yield* this.release();
      call = this.#begin(index, before?.isNamedAgain === true ? before.name : '');
    }
    if (index !== undefined) this.#numbered.set(index, call);
    else if (at !== undefined) this.#listed.set(at, call);
    if (id !== '') {
      call.id = id;
      this.#named.set(id, call);
    }
    call.isNamedAgain ||= name !== '' && isDone(call);
    if (name !== '') call.name = name;
    if (signature !== '') call.signature = signature;
    call.push(text);
    this.#last = call;
    if (call.isTold) yield { call, text };
    else yield* this.#hold(call, text);
  }

  #read(given: unknown, at: number | undefined): Piece | undefined {
    if (!isObject(given)) return undefined;
    const called = isObject(given.function) ? given.function : {};
    const text = argumentsText(called.arguments);
    return {
      index: typeof given.index === 'number' ? given.index : undefined,
      at,
      id: textOf(given.id),
      name: textOf(called.name),
      text,
      signature: this.#waitsForSignature ? signatureOf(given) : '',
      isBlank: text.trim() === '',
    };
  }

  /** Returns the call of the previous delta with this `index`, or with this position in the chunk. */
  #callBefore({ at, id, index, name }: Piece): AnsweredCall | undefined {
    if (index !== undefined) return this.#numbered.get(index);
    if (at === undefined) return this.#last;
    const listed = this.#listed.get(at);
    const isOfLast = id === '' && name === '' && (listed === undefined || isDone(listed));
    return isOfLast ? this.#last : listed;
  }

  /**
   * Returns the call that a delta continues. Undefined when the delta begins a call. The first deltas of a call may lack the id
   * that later deltas have.
   */
  #find({ id, index }: Piece, before: AnsweredCall | undefined): AnsweredCall | undefined {
    if (id === '' || before?.id === id) return before;
    // Two calls with different numbers are distinct, even with equal ids.
    if (index !== undefined && before === undefined) return undefined;
    const unnamed = before?.id === '' ? before : undefined;
    return index === undefined
      ? (this.#named.get(id) ?? unnamed)
      : (unnamed ?? this.#named.get(id));
  }

  #begin(index: number | undefined, name: string): AnsweredCall {
    const { toolCalls: most } = MODEL_LIMITS.chat;
    if (this.#count >= most) throw new Error(`an answer has more than ${most} tool calls`);
    const call = new AnsweredCall(this.#count++, index);
    call.name = name;
    call.signature = this.#signature;
    this.#signature = '';
    if (this.#waitsForSignature && call.place === 0) this.#unsigned = call;
    return call;
  }

  *#hold(call: AnsweredCall, text: string): Generator<HeardCall> {
    call.held += text;
    if (call.held.length > MODEL_LIMITS.chat.heldCallChars)
      throw new Error('too much of a call is held');
    if (this.#unsigned === call && call.signature === '') return;
    if (this.#unsigned === call) this.#unsigned = undefined;
    yield* this.#tell(call);
  }

  *#tell(call: AnsweredCall): Generator<HeardCall> {
    const { held: text, name } = call;
    if (name === '' && text.trim() === '') return;
    call.isTold = true;
    call.held = '';
    yield { call, text };
  }
}

const NONE: readonly HeardCall[] = [];

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

const isDone = ({ isOver, isWhole }: AnsweredCall): boolean => isWhole || isOver;

/** Returns true when a delta with the index of `call`, or without one, begins the next call. */
function isNextBehind(call: AnsweredCall, { id, isBlank, name }: Piece): boolean {
  if (id !== '' && id === call.id) return false;
  if (name !== '' && call.name !== '' && name !== call.name) return true;
  if (!isDone(call)) return false;
  if (isBlank) return id !== '' && call.isNamedAgain;
  return name !== '' || id !== '' || call.isNamedAgain;
}
