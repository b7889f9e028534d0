type Bodied = { readonly body: AsyncIterable<Uint8Array> | Uint8Array };

/**
 * The same answer with its body whole, where that is at most `maxBytes` long; a longer one goes on as a stream, from its
 * beginning. Rejects as the body does where it breaks off.
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

/** No generator: one that is left before its first piece would not let go of the source. */
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
