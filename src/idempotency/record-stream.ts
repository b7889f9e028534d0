/**
 * The same stream, read along while it is sent. `over` is told once: the whole body when the stream has ended,
 * before its reader is; null when it was longer than the bound, broke, or was left before its end.
 */
export function recordStream(
  source: AsyncIterable<Uint8Array>,
  maxBytes: number,
  over: (body: Buffer | null) => Promise<void>,
): AsyncIterable<Uint8Array> {
  return {
    [Symbol.asyncIterator]: () => recording(source[Symbol.asyncIterator](), maxBytes, over),
  };
}

// Not a generator: one that is left before it was begun would never say so.
function recording(
  source: AsyncIterator<Uint8Array>,
  maxBytes: number,
  over: (body: Buffer | null) => Promise<void>,
): AsyncIterator<Uint8Array> {
  let chunks: Buffer[] | undefined = [];
  let bytes = 0;
  let told: Promise<void> | undefined;
  const tell = (body: Buffer | null): Promise<void> => {
    chunks = undefined;
    told ??= over(body);
    return told;
  };

  return {
    async next() {
      let step: IteratorResult<Uint8Array>;
      try {
        step = await source.next();
      } catch (error) {
        await tell(null);
        throw error;
      }
      if (step.done === true) {
        await tell(chunks === undefined ? null : Buffer.concat(chunks));
        return step;
      }
      bytes += step.value.byteLength;
      if (bytes > maxBytes) chunks = undefined;
      // The source may use its memory again.
      chunks?.push(Buffer.from(step.value));
      return step;
    },
    async return() {
      // A source that hangs in the middle of its work must not keep the key.
      await Promise.all([tell(null), source.return?.()]);
      return { done: true, value: undefined };
    },
  };
}
