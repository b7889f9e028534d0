import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { gatherWhole } from '../../../../src/payments/proxy/gather-whole.ts';

async function read(body: AsyncIterable<Uint8Array> | Uint8Array): Promise<Buffer> {
  if (body instanceof Uint8Array) return Buffer.from(body);
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** A body in these pieces that says how many of them were taken. */
function bodyOf(pieces: readonly Uint8Array[], end?: Error) {
  const told = { taken: 0, left: false };
  async function* body() {
    try {
      for (const piece of pieces) {
        told.taken++;
        yield piece;
      }
      if (end !== undefined) throw end;
    } finally {
      told.left = true;
    }
  }
  return { told, body: body() };
}

describe('gathering an answer', () => {
  it('gatherWhole keeps every byte, as a buffer up to `maxBytes` and as a stream above', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.uint8Array({ maxLength: 9 }), { maxLength: 9 }),
        fc.nat(40),
        async (pieces, maxBytes) => {
          const all = Buffer.concat(pieces);
          const { body } = await gatherWhole({ body: bodyOf(pieces).body }, maxBytes);
          expect(body instanceof Uint8Array).toBe(all.byteLength <= maxBytes);
          expect(await read(body)).toEqual(all);
        },
      ),
    );
  });

  it('gatherWhole reads only until a body is known to be too long', async () => {
    const { told, body } = bodyOf(Array.from({ length: 100 }, () => Buffer.alloc(10)));
    const { body: rest } = await gatherWhole({ body }, 25);
    expect(told.taken).toBe(3);
    expect((await read(rest)).byteLength).toBe(1_000);
  });

  it('gatherWhole changes nothing but the body, and returns an answer with a whole body as it is', async () => {
    const answer = { status: 203, body: Buffer.from('abc') };
    expect(await gatherWhole(answer, 1)).toBe(answer);
    const { body } = bodyOf([Buffer.from('abc')]);
    expect(await gatherWhole({ status: 203, body }, 3)).toEqual(answer);
  });

  it('gatherWhole fails when the body breaks off', async () => {
    const { body } = bodyOf([Buffer.from('abc')], new Error('cut'));
    await expect(gatherWhole({ body }, 10)).rejects.toThrow('cut');
  });

  it('gatherWhole lets go of a long body whose reader leaves in the middle or before the first piece', async () => {
    const long = () => bodyOf(Array.from({ length: 9 }, () => Buffer.alloc(10)));
    const middle = long();
    const { body: rest } = await gatherWhole({ body: middle.body }, 5);
    for await (const _ of rest as AsyncIterable<Uint8Array>) break;
    expect(middle.told.left).toBe(true);
    const unread = long();
    const { body: never } = await gatherWhole({ body: unread.body }, 5);
    await (never as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]().return?.();
    expect(unread.told.left).toBe(true);
  });
});
