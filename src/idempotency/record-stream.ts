/**
 * Returns the stream, recorded while it is sent. Calls `over` once: with the whole body when the stream has ended, before its
 * reader sees the end; with null when the stream was longer than the bound, failed, or was left before its end.
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

// Not a generator: a generator that is left before its first step runs no code at all.
function recording(
  source: AsyncIterator<Uint8Array>,
  maxBytes: number,
  over: (body: Buffer | null) => Promise<void>,
): AsyncIterator<Uint8Array> {
  let chunks: Buffer[] | undefined = [];
  let bytes = 0;
  let reported: Promise<void> | undefined;
  const report = (body: Buffer | null): Promise<void> => {
    chunks = undefined;
    reported ??= over(body);
    return reported;
  };

  return {
    async next() {
      let step: IteratorResult<Uint8Array>;
      try {
        step = await source.next();
      } catch (error) {
        await report(null);
        throw error;
      }
      if (step.done === true) {
        await report(chunks === undefined ? null : Buffer.concat(chunks));
        return step;
      }
      bytes += step.value.byteLength;
      if (bytes > maxBytes) chunks = undefined;
      // Copied, because the source may reuse the chunk's memory.
      chunks?.push(Buffer.from(step.value));
      return step;
    },
    async return() {
      // Reported without waiting for the source's cleanup: a source that hangs there must not keep the key.
      await Promise.all([report(null), source.return?.()]);
      return { done: true, value: undefined };
    },
  };
}
