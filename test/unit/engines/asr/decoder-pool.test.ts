import { describe, expect, it } from 'vitest';
import { createDecoderPool, type DecoderClient } from '../../../../src/engines/asr/decoder-pool.ts';
import { EngineBusy } from '../../../../src/engines/engine.ts';
import { fakeWorkerClient } from '../../../support/fake-worker-client.ts';

function world(size: number) {
  const made: (DecoderClient & { disposed: boolean })[] = [];
  const pool = createDecoderPool({
    size,
    makeClient: () => {
      const client = Object.assign(
        fakeWorkerClient(() => null),
        {
          thread: {},
        },
      ) as unknown as DecoderClient & { disposed: boolean };
      made.push(client);
      return client;
    },
  });
  return { pool, made };
}

describe('decoder pool', () => {
  it('refuses the stream beyond its size at once, and says when to try again', () => {
    const { pool } = world(2);
    pool.take();
    pool.take();
    expect(() => pool.take()).toThrow(EngineBusy);
    try {
      pool.take();
    } catch (error) {
      expect((error as EngineBusy).retryAfterSeconds).toBeGreaterThan(0);
    }
  });

  it('keeps a decoder that was given back warm for the next stream', () => {
    const { pool, made } = world(2);
    const first = pool.take();
    pool.giveBack(first, false);
    pool.giveBack(first, false);
    expect(pool.take()).toBe(first);
    expect(made.length).toBe(1);
    expect(pool.taken).toBe(1);
  });

  it('ends a retired decoder, and counts it until it has left', async () => {
    const { pool, made } = world(1);
    pool.giveBack(pool.take(), true);
    expect(() => pool.take()).toThrow(EngineBusy);
    await new Promise(setImmediate);
    expect(made[0]?.disposed).toBe(true);
    expect(pool.take()).toBe(made[1]);
  });

  it('ends idle and taken decoders when it is disposed', async () => {
    const { pool, made } = world(2);
    const one = pool.take();
    pool.take();
    pool.giveBack(one, false);
    await pool[Symbol.asyncDispose]();
    expect(made.map(({ disposed }) => disposed)).toEqual([true, true]);
  });
});
