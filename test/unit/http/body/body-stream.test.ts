import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BodyBudget } from '../../../../src/http/body/body-budget.ts';
import { type BodyBreak, streamBody } from '../../../../src/http/body/body-stream.ts';
import { HTTP_LIMITS } from '../../../../src/http/limits.ts';
import { FakeResponse } from '../../../support/fake-response.ts';

const AHEAD = HTTP_LIMITS.body.streamAheadBytes;

const budgetOf = (bytes: number, bytesPerCaller = bytes) =>
  new BodyBudget({ bytes, bytesPerCaller });

function streaming(limitBytes: number, budget = budgetOf(1e9)) {
  const response = new FakeResponse();
  let leave = () => {};
  const onGone = (callback: () => void) => {
    leave = callback;
  };
  const body = streamBody(response.asResponse, { limitBytes, budget, onGone });
  const chunks = () => body.chunks((how: BodyBreak) => new Error(how))[Symbol.asyncIterator]();
  return { response, body, budget, chunks, leave: () => leave() };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

async function whole(chunks: AsyncIterator<Buffer>): Promise<Buffer> {
  const read: Buffer[] = [];
  for (;;) {
    const next = await chunks.next();
    if (next.done === true) return Buffer.concat(read);
    read.push(next.value);
  }
}

describe('a body that is read while it arrives', () => {
  it('a streamed request body is whole however it was cut, and its memory is given back at the end', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.uint8Array({ maxLength: 40 })), async (pieces) => {
        const { response, body, budget, chunks } = streaming(10_000);
        const reading = whole(chunks());
        for (const piece of pieces) {
          response.receive(piece, false);
          if (piece.length % 2 === 0) await Promise.resolve();
        }
        response.receive('', true);
        expect((await reading).equals(Buffer.concat(pieces))).toBe(true);
        expect(budget.heldBytes).toBe(Buffer.concat(pieces).length);
        body.letGo();
        body.release();
        body.release();
        expect(budget.heldBytes).toBe(0);
      }),
    );
  });

  it('a streamed request body pauses while nobody reads it, and goes on when the buffered bytes have been read', async () => {
    const { response, chunks } = streaming(10 * AHEAD);
    response.receive(new Uint8Array(AHEAD), false);
    expect(response.isPaused).toBe(false);
    response.receive(new Uint8Array(1), false);
    // What the library still reads in this turn comes all the same.
    response.receive(new Uint8Array(5), false);
    await turn();
    expect(response.isPaused).toBe(true);

    const reader = chunks();
    const sizes = [];
    for (let i = 0; i < 3; i++) sizes.push((await reader.next()).value?.length);
    expect(sizes).toEqual([AHEAD, 1, 5]);
    expect(response.isPaused).toBe(true);
    const next = reader.next();
    await Promise.resolve();
    expect(response.isPaused).toBe(true);
    await turn();
    expect(response.isPaused).toBe(false);
    response.receive('end', true);
    expect((await next).value?.toString()).toBe('end');
    expect((await reader.next()).done).toBe(true);
  });

  it('the pieces of a fast streamed body are only copied on arrival, and each is read in its own event-loop turn', async () => {
    const { response, chunks } = streaming(10 * AHEAD);
    let read = 0;
    const reading = (async () => {
      for await (const _ of { [Symbol.asyncIterator]: chunks }) read++;
    })();
    for (let i = 0; i < 3; i++) {
      response.receive(new Uint8Array(AHEAD + 1), i === 2);
      // The library runs what was promised between two reads.
      await Promise.resolve();
    }
    const readByTurn = [read];
    for (let turns = 0; turns < 3; turns++) {
      await turn();
      readByTurn.push(read);
    }
    expect(readByTurn).toEqual([0, 1, 2, 3]);
    await reading;
  });

  it('a streamed request body over its limit breaks off at that byte, and says so once the rest was discarded', async () => {
    const { response, body, budget, chunks } = streaming(10);
    const reader = chunks();
    response.receive('0123456789', false);
    expect((await reader.next()).value?.length).toBe(10);
    response.receive('a', false);
    expect(budget.heldBytes).toBe(0);
    let told: unknown;
    const refused = reader.next().catch((error: Error) => {
      told = error.message;
    });
    response.receive('more', false);
    await turn();
    expect(told).toBeUndefined();
    response.receive('', true);
    await refused;
    expect(told).toBe('too_large');
    expect(body.brokeOff).toBe(false);
  });

  it('a streamed request body that does not end is refused after a bounded discard, and its connection must close', async () => {
    const { response, body, chunks } = streaming(10);
    const refused = chunks().next();
    const piece = new Uint8Array(1024 * 1024);
    for (let sent = 0; sent <= HTTP_LIMITS.body.discardBytes; sent += piece.byteLength) {
      response.receive(piece, false);
    }
    await expect(refused).rejects.toThrow('too_large');
    expect(body.brokeOff).toBe(true);
  });

  it('the rest of a streamed request body is discarded before a reader that stopped early goes on', async () => {
    const { response, chunks } = streaming(10 * AHEAD);
    response.receive(new Uint8Array(AHEAD + 1), false);
    await turn();
    expect(response.isPaused).toBe(true);
    let isOut = false;
    const leaving = (async () => {
      for await (const _ of { [Symbol.asyncIterator]: chunks }) throw new Error('enough');
    })().catch((error: Error) => {
      isOut = true;
      return error.message;
    });
    for (let turns = 0; turns < 3; turns++) await turn();
    expect([isOut, response.isPaused]).toEqual([false, false]);
    response.receive('rest', true);
    expect(await leaving).toBe('enough');
  });

  it('a streamed request body is refused when all bodies together hold too much', async () => {
    const budget = budgetOf(10);
    const first = streaming(100, budget);
    const second = streaming(100, budget);
    first.response.receive('12345678', false);
    second.response.receive('1234', true);
    await expect(second.chunks().next()).rejects.toThrow('overloaded');
    expect(budget.heldBytes).toBe(8);
  });

  it('a streamed request body is refused when its caller holds too much, before its caller was known or after', async () => {
    const budget = budgetOf(100, 10);
    const first = streaming(100, budget);
    const second = streaming(100, budget);
    first.body.belongsTo('me');
    first.response.receive('12345678', false);
    second.response.receive('1234', true);
    second.body.belongsTo('me');
    await expect(second.chunks().next()).rejects.toThrow('crowded');
    expect(budget.heldBytes).toBe(8);
  });

  it('a streamed request body ends with its client, and the response is not touched afterwards', async () => {
    const { response, body, budget, chunks, leave } = streaming(10 * AHEAD);
    response.receive(new Uint8Array(AHEAD + 1), false);
    response.ended = true;
    leave();
    await expect(chunks().next()).rejects.toThrow('gone');
    body.letGo();
    body.release();
    expect(budget.heldBytes).toBe(0);
    const waiting = streaming(100);
    const next = waiting.chunks().next();
    waiting.leave();
    await expect(next).rejects.toThrow('gone');
  });

  it('a streamed request body counts as held until its handler is done, though its client left after sending all', async () => {
    const { response, body, budget, chunks, leave } = streaming(100);
    response.receive('12345678', true);
    expect((await whole(chunks())).toString()).toBe('12345678');
    leave();
    expect(budget.heldBytes).toBe(8);
    body.release();
    expect(budget.heldBytes).toBe(0);
  });

  it('a streamed request body that no handler reads is discarded before the response is written, and leaves nothing', async () => {
    const { response, body, budget } = streaming(10 * AHEAD);
    response.receive(new Uint8Array(AHEAD + 1), false);
    body.letGo();
    expect(response.isPaused).toBe(false);
    response.end();
    response.receive(new Uint8Array(5 * AHEAD), false);
    body.release();
    expect(budget.heldBytes).toBe(0);
  });
});
