import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readBody } from '../../../../src/http/body/body.ts';
import { BodyBudget } from '../../../../src/http/body/body-budget.ts';
import { HTTP_LIMITS } from '../../../../src/http/limits.ts';
import { turnForLongWork } from '../../../../src/kernel/long-work.ts';
import { FakeResponse } from '../../../support/fake-response.ts';

const turn = () => new Promise((resolve) => setImmediate(resolve));

const budgetOf = (bytes: number, bytesPerCaller = bytes) =>
  new BodyBudget({ bytes, bytesPerCaller });

function reading(limitBytes: number, budget = budgetOf(1_000_000)) {
  const response = new FakeResponse();
  let leave = () => {};
  const onGone = (callback: () => void) => {
    leave = callback;
  };
  const read = readBody(response.asResponse, { limitBytes, budget, onGone });
  return { response, read, budget, leave: () => leave() };
}

describe('a request body', () => {
  it('a request body arrives whole however it was cut, and its memory is given back', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.uint8Array({ maxLength: 40 })), async (pieces) => {
        const { response, read, budget } = reading(10_000);
        for (const piece of pieces) response.receive(piece, false);
        response.receive('', true);
        const body = await read.body;
        expect(body.kind === 'whole' && body.bytes.equals(Buffer.concat(pieces))).toBe(true);
        expect(budget.heldBytes).toBe(Buffer.concat(pieces).length);
        read.release();
        read.release();
        expect(budget.heldBytes).toBe(0);
      }),
    );
  });

  it('a fast request body waits for an event-loop turn of its own, and resumes before the response is written', async () => {
    const { response, read } = reading(10_000_000);
    const much = new Uint8Array(HTTP_LIMITS.body.streamAheadBytes + 1);
    void turnForLongWork();
    void turnForLongWork();
    response.receive(much, false);
    await turn();
    expect(response.isPaused).toBe(true);
    await turn();
    await turn();
    expect(response.isPaused).toBe(false);
    response.receive(much, false);
    void turnForLongWork();
    await turn();
    read.letGo();
    expect(response.isPaused).toBe(false);
    read.release();
  });

  it('a request body that has arrived whole is never paused, since a resume would start the library’s timer', async () => {
    const { response, read } = reading(10_000_000);
    const much = new Uint8Array(HTTP_LIMITS.body.streamAheadBytes + 1);
    void turnForLongWork();
    response.receive(much, false);
    response.receive(much, true);
    await turn();
    expect(response.isPaused).toBe(false);
    expect((await read.body).kind).toBe('whole');
  });

  it('a request body over its limit is dropped from memory, and refused when the rest has been discarded', async () => {
    const { response, read, budget } = reading(10);
    response.receive('12345678', false);
    expect(budget.heldBytes).toBe(8);
    response.receive('9ab', false);
    expect(budget.heldBytes).toBe(0);
    response.receive('more', true);
    expect(await read.body).toEqual({ kind: 'too_large' });
    expect(read.brokeOff).toBe(false);
  });

  it('a request body that does not end is refused after a bounded discard, and its connection must close', async () => {
    const { response, read } = reading(10);
    const piece = new Uint8Array(1024 * 1024);
    for (let sent = 0; sent <= HTTP_LIMITS.body.discardBytes; sent += piece.byteLength) {
      response.receive(piece, false);
    }
    expect(await read.body).toEqual({ kind: 'too_large' });
    expect(read.brokeOff).toBe(true);
  });

  it('a request body is refused when all bodies together hold too much', async () => {
    const budget = budgetOf(10);
    const first = reading(100, budget);
    const second = reading(100, budget);
    first.response.receive('12345678', false);
    second.response.receive('1234', true);
    expect(await second.read.body).toEqual({ kind: 'overloaded' });
    expect(budget.heldBytes).toBe(8);
  });

  it('a request body is refused when its caller holds too much, before its caller was known or after', async () => {
    const budget = budgetOf(100, 10);
    const first = reading(100, budget);
    const second = reading(100, budget);
    const third = reading(100, budget);
    for (const { read } of [first, second]) read.belongsTo('me');
    first.response.receive('12345678', false);
    second.response.receive('1234', true);
    third.response.receive('1234', true);
    third.read.belongsTo('me');
    expect(await second.read.body).toEqual({ kind: 'crowded' });
    expect(await third.read.body).toEqual({ kind: 'crowded' });
    expect(budget.heldBytes).toBe(8);
  });

  it('a request body ends when the client goes away, and bytes that come after its release are not kept', async () => {
    const { response, read, budget, leave } = reading(100);
    response.receive('half', false);
    leave();
    expect(await read.body).toEqual({ kind: 'gone' });
    read.release();
    response.receive('late', false);
    expect(budget.heldBytes).toBe(0);
  });
});
