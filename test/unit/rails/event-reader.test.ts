import { describe, expect, it } from 'vitest';
import { LIMITS } from '../../../src/kernel/limits.ts';
import { EventReader, StreamBroken } from '../../../src/rails/event-reader.ts';

/** An answer of these pieces, and then of this error. */
function reading(pieces: readonly string[], error?: Error) {
  const told = { stops: 0 };
  async function* body() {
    for (const piece of pieces) yield Buffer.from(piece);
    if (error !== undefined) throw error;
  }
  const stop = () => {
    told.stops++;
  };
  const reader = new EventReader({ status: 200, headers: {}, body: body(), stop });
  const read = async () => (await reader.read())?.map((event) => event.toString());
  return { told, read };
}

describe('the events of an answer', () => {
  it('are read as its pieces complete them, until it ends', async () => {
    const { read, told } = reading(['data: 1\n\ndata', ': 2', '\n\n']);
    expect([await read(), await read(), await read()]).toEqual([
      ['data: 1\n\n'],
      [],
      ['data: 2\n\n'],
    ]);
    expect([await read(), told.stops]).toEqual([undefined, 0]);
  });

  it('break where it breaks, with the reason', async () => {
    const reason = new Error('gone');
    const { read } = reading(['data: 1\n\n'], reason);
    await read();
    const error = await read().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(StreamBroken);
    expect(error).toMatchObject({ cause: reason });
  });

  it('that are too large end it', async () => {
    const { read, told } = reading(['x'.repeat(LIMITS.sseEventBytes + 1)]);
    await expect(read()).rejects.toThrow(StreamBroken);
    expect(told.stops).toBe(1);
  });
});
