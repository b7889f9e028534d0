import { describe, expect, it } from 'vitest';
import { createCallSlots } from '../../../../src/payments/reservations/call-slots.ts';

const bytes = Buffer.from('x');
async function* chunks() {
  yield bytes;
  yield bytes;
}
const full = {
  status: 429,
  error: 'rate_limit_exceeded',
  fields: {
    message: expect.any(String),
    detail: expect.any(String),
    reason: 'agent_proxy_limit',
    retry_after_seconds: 1,
    limit_per_minute: 30,
    remaining: 0,
    limit: 1,
  },
};

describe('the calls that an agent has under way', () => {
  it('an agent’s calls in progress are limited for that agent alone, and a failed or buffered call frees its slot', async () => {
    const slots = createCallSlots({ most: 1, perMinute: 30 });
    let end = (_: { body: Uint8Array }) => {};
    const first = slots.take(1, () => new Promise<{ body: Uint8Array }>((done) => (end = done)));
    await expect(slots.take(1, async () => ({ body: bytes }))).rejects.toMatchObject(full);
    expect(await slots.take(2, async () => ({ body: bytes }))).toEqual({ body: bytes });
    end({ body: bytes });
    await first;
    const failing = slots.take(1, () => Promise.reject(new Error('no answer')));
    await expect(failing).rejects.toThrow('no answer');
    expect(slots.size).toBe(0);
  });

  it('an agent’s call with a streamed body holds its slot until the body is read, left or broken', async () => {
    const slots = createCallSlots({ most: 1, perMinute: 30 });
    const read = await slots.take(1, async () => ({ body: chunks() }));
    await expect(slots.take(1, async () => ({ body: bytes }))).rejects.toMatchObject(full);
    let seen = 0;
    for await (const chunk of read.body as AsyncIterable<Uint8Array>) seen += chunk.byteLength;
    expect([seen, slots.size]).toEqual([2, 0]);

    const left = await slots.take(1, async () => ({ body: chunks() }));
    await (left.body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]().return?.();
    expect(slots.size).toBe(0);

    const breaking = {
      [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new Error('cut')) }),
    };
    const broken = await slots.take(1, async () => ({ body: breaking }));
    const iterator = (broken.body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]();
    await expect(iterator.next()).rejects.toThrow('cut');
    expect(slots.size).toBe(0);
  });
});
