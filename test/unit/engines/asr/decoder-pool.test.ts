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
  it('lets the stream beyond its size wait, and gives it the first decoder that is free', () => {
    const { given, pool, take } = world(2);
    for (let stream = 0; stream < 4; stream++) take();
    expect([given.length, pool.taken, pool.waiting]).toEqual([2, 2, 2]);
    pool.giveBack(given[1] as DecoderClient, false);
    expect(given[2]).toBe(given[1]);
    expect([pool.taken, pool.waiting]).toEqual([2, 1]);
  });

  it('forgets the stream that gave its wait up, and serves the next one', () => {
    const { given, pool, take } = world(1);
    take();
    const giveUp = take();
    take();
    giveUp();
    pool.giveBack(given[0] as DecoderClient, false);
    expect([given.length, pool.waiting]).toEqual([2, 0]);
  });

  it('keeps a decoder that was given back warm for the next stream', () => {
    const { given, made, pool, take } = world(2);
    take();
    pool.giveBack(given[0] as DecoderClient, false);
    pool.giveBack(given[0] as DecoderClient, false);
    take();
    expect(given[1]).toBe(given[0]);
    expect(made.length).toBe(1);
    expect(pool.taken).toBe(1);
  });

  it('ends a retired decoder, and makes its successor only when it has left', async () => {
    const { given, made, pool, take } = world(1);
    take();
    pool.giveBack(given[0] as DecoderClient, true);
    take();
    expect(given.length).toBe(1);
    await new Promise(setImmediate);
    expect(made[0]?.disposed).toBe(true);
    expect(given[1]).toBe(made[1]);
  });

  it('ends idle and taken decoders when it is disposed, and gives none to who waits', async () => {
    const { given, made, pool, take } = world(2);
    for (let stream = 0; stream < 3; stream++) take();
    await pool[Symbol.asyncDispose]();
    expect(made.map(({ disposed }) => disposed)).toEqual([true, true]);
    expect(given.length).toBe(2);
  });
});
