/** Pieces of a stream that is relayed. */
type Pieces = {
  next(): Promise<Uint8Array | undefined>;
  /** Stops reading and aborts the upstream request. */
  stop(): void;
};

/** Conversion of a relayed stream for its reader. Exactly one of `end`, `broken` and `left` is called, once. */
export type StreamForm = {
  piece(bytes: Uint8Array): Uint8Array;
  /** Returns the last bytes of the stream. Undefined when it has none. */
  end(): Promise<Uint8Array | undefined>;
  /** Returns the bytes to write after the upstream broke off. Throws when the connection is to be cut. */
  broken(cause: unknown): Promise<Uint8Array>;
  /** Called when the reader leaves. */
  left(): Promise<void>;
};

const OVER = { done: true, value: undefined } as const;
const some = (value: Uint8Array) => ({ done: false, value }) as const;

/** Relays a stream to one reader. A generator would not notice a reader that leaves before the first piece. */
export function relayStream(pieces: Pieces, form: StreamForm): AsyncIterable<Uint8Array> {
  let isOver = false;

  async function next(): Promise<IteratorResult<Uint8Array>> {
    if (isOver) return OVER;
    let bytes: Uint8Array | undefined;
    try {
      bytes = await pieces.next();
    } catch (cause) {
      // Stopping a stream breaks the read that was pending.
      if (isOver) return OVER;
      isOver = true;
      return some(await form.broken(cause));
    }
    if (isOver) return OVER;
    if (bytes !== undefined) return some(form.piece(bytes));
    isOver = true;
    const last = await form.end();
    return last === undefined ? OVER : some(last);
  }

  async function leave(): Promise<IteratorResult<Uint8Array>> {
    if (isOver) return OVER;
    isOver = true;
    pieces.stop();
    await form.left();
    return OVER;
  }

  return { [Symbol.asyncIterator]: () => ({ next, return: leave }) };
}
