type Bodied = { readonly body: AsyncIterable<Uint8Array> | Uint8Array };

/**
 * Returns the answer with its whole body when the body has at most `maxBytes`; a longer body stays a stream, from its
 * beginning. Rejects when the body breaks off.
 */
export async function gatherWhole<T extends Bodied>(answer: T, maxBytes: number): Promise<T> {
  const { body } = answer;
  if (body instanceof Uint8Array) return answer;
  const source = body[Symbol.asyncIterator]();
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  while (bytes <= maxBytes) {
    const next = await source.next();
    if (next.done === true) return { ...answer, body: Buffer.concat(chunks, bytes) };
    chunks.push(next.value);
    bytes += next.value.byteLength;
  }
  return { ...answer, body: continued(chunks, source) };
}

/**
 * Returns the chunks that were read, then the unread part of the source. Not a generator: a generator that is left before its
 * first chunk would not release the source.
 */
const continued = (
  chunks: Uint8Array[],
  source: AsyncIterator<Uint8Array>,
): AsyncIterable<Uint8Array> => ({
  [Symbol.asyncIterator]: () => ({
    async next() {
      const value = chunks.shift();
      return value === undefined ? source.next() : { done: false, value };
    },
    async return() {
      chunks.length = 0;
      await source.return?.();
      return { done: true, value: undefined };
    },
  }),
});
