import { describe, expect, it } from 'vitest';
import { recordStream } from '../../../src/idempotency/record-stream.ts';

const bytes = (text: string) => Buffer.from(text);

/** Records a stream with a bound of ten bytes; `told` is what was said at its end. */
function recording(source: AsyncIterable<Uint8Array>) {
  const told: (string | null)[] = [];
  const stream = recordStream(source, 10, async (body) => {
    told.push(body === null ? null : body.toString());
  });
  return { told, stream };
}

async function* pieces(...texts: string[]) {
  for (const text of texts) yield bytes(text);
}

async function read(stream: AsyncIterable<Uint8Array>): Promise<string> {
  let text = '';
  for await (const chunk of stream) text += Buffer.from(chunk).toString();
  return text;
}

describe('a stream that is read along', () => {
  it('recordStream passes every piece on and reports the whole body before its reader sees the end', async () => {
    let isTold = false;
    const stream = recordStream(pieces('ab', '', 'cd'), 10, async (body) => {
      await new Promise((resolve) => setImmediate(resolve));
      expect(body?.toString()).toBe('abcd');
      isTold = true;
    });
    expect(await read(stream)).toBe('abcd');
    expect(isTold).toBe(true);
  });

  it('recordStream keeps the sent bytes although its source reuses the same memory', async () => {
    const memory = bytes('..');
    async function* reusing() {
      for (const text of ['ab', 'cd', 'ef']) {
        memory.write(text);
        yield memory;
      }
    }
    const { told, stream } = recording(reusing());
    await read(stream);
    expect(told).toEqual(['abcdef']);
  });

  it('recordStream passes a body over its limit on, but records none of it', async () => {
    const { told, stream } = recording(pieces('12345', '67890', '1'));
    expect(await read(stream)).toBe('12345678901');
    expect(told).toEqual([null]);
    const fits = recording(pieces('12345', '67890'));
    await read(fits.stream);
    expect(fits.told).toEqual(['1234567890']);
  });

  it('recordStream reports a broken source once, and fails for its reader too', async () => {
    async function* broken() {
      yield bytes('ab');
      throw new Error('broke');
    }
    const { told, stream } = recording(broken());
    await expect(read(stream)).rejects.toThrow('broke');
    expect(told).toEqual([null]);
  });

  it('recordStream reports an early leave of its reader, also before the first piece and while its source hangs', async () => {
    const unbegun = recording(pieces('ab'));
    await unbegun.stream[Symbol.asyncIterator]().return?.();
    expect(unbegun.told).toEqual([null]);

    async function* hanging() {
      yield bytes('ab');
      await new Promise(() => {});
    }
    const hung = recording(hanging());
    const reader = hung.stream[Symbol.asyncIterator]();
    await reader.next();
    void reader.next();
    void reader.return?.();
    await new Promise((resolve) => setImmediate(resolve));
    expect(hung.told).toEqual([null]);
  });

  it('recordStream ends its source when its reader leaves', async () => {
    let ended = 0;
    async function* source() {
      try {
        yield bytes('ab');
        yield bytes('cd');
      } finally {
        ended++;
      }
    }
    const { told, stream } = recording(source());
    for await (const _ of stream) break;
    expect([ended, told]).toEqual([1, [null]]);
  });
});
