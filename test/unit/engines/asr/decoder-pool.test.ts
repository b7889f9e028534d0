import { describe, expect, it } from 'vitest';
import { createDecoderPool, type DecoderClient } from '../../../../src/engines/asr/decoder-pool.ts';
import { fakeWorkerClient } from '../../../support/fake-worker-client.ts';

type FakeClient = DecoderClient & { disposed: boolean };

function world(size: number) {
  const made: FakeClient[] = [];
  const pool = createDecoderPool({
    size,
    makeClient: () => {
      const client = Object.assign(
        fakeWorkerClient(() => null),
        { thread: {} },
      ) as unknown as FakeClient;
      made.push(client);
      return client;
    },
  });
  /** The decoders of one stream after another, as they get them. */
  const given: DecoderClient[] = [];
  const take = () => pool.take((client) => given.push(client));
  return { pool, made, given, take };
}

describe('decoder pool', () => {
  it('the decoder pool lets a stream beyond its size wait, and gives that stream the first free decoder', () => {
    const { given, pool, take } = world(2);
    for (let stream = 0; stream < 4; stream++) take();
    expect([given.length, pool.taken, pool.waiting]).toEqual([2, 2, 2]);
    pool.giveBack(given[1] as DecoderClient, false);
    expect(given[2]).toBe(given[1]);
    expect([pool.taken, pool.waiting]).toEqual([2, 1]);
  });

  it('the decoder pool forgets a stream that stopped waiting, and serves the next one', () => {
    const { given, pool, take } = world(1);
    take();
    const giveUp = take();
    take();
    giveUp();
    pool.giveBack(given[0] as DecoderClient, false);
    expect([given.length, pool.waiting]).toEqual([2, 0]);
  });

  it('the decoder pool keeps a returned decoder warm for the next stream', () => {
    const { given, made, pool, take } = world(2);
    take();
    pool.giveBack(given[0] as DecoderClient, false);
    pool.giveBack(given[0] as DecoderClient, false);
    take();
    expect(given[1]).toBe(given[0]);
    expect(made.length).toBe(1);
    expect(pool.taken).toBe(1);
  });

  it('the decoder pool grows to the decoders that are asked for, one after another, though a load fails', async () => {
    const { made, pool } = world(3);
    const loading: number[] = [];
    const load = async () => {
      loading.push(pool.taken);
      await new Promise(setImmediate);
      throw new Error('not loaded');
    };
    await pool.grow(2, load);
    expect([made.length, loading, pool.taken]).toEqual([2, [1, 1], 0]);
    await pool.grow(5, load);
    expect(made.length).toBe(3);
  });

  it('the decoder pool that is disposed while it grows makes no further decoder', async () => {
    const { made, pool } = world(3);
    const growing = pool.grow(3, () => new Promise((resolve) => setImmediate(() => resolve(null))));
    await pool[Symbol.asyncDispose]();
    await growing;
    expect(made.length).toBe(1);
  });

  it('the decoder pool ends a retired decoder, and makes its successor only after that end', async () => {
    const { given, made, pool, take } = world(1);
    take();
    pool.giveBack(given[0] as DecoderClient, true);
    take();
    expect(given.length).toBe(1);
    await new Promise(setImmediate);
    expect(made[0]?.disposed).toBe(true);
    expect(given[1]).toBe(made[1]);
  });

  it('the decoder pool ends idle and used decoders when it is disposed, and gives none to waiting streams', async () => {
    const { given, made, pool, take } = world(2);
    for (let stream = 0; stream < 3; stream++) take();
    await pool[Symbol.asyncDispose]();
    expect(made.map(({ disposed }) => disposed)).toEqual([true, true]);
    expect(given.length).toBe(2);
  });
});
