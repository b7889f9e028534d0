import { describe, expect, it } from 'vitest';
import { HTTP_LIMITS } from '../../../../src/http/limits.ts';
import { ReplyWriter } from '../../../../src/http/pipeline/reply.ts';
import { FakeResponse } from '../../../support/fake-response.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const OPTIONS = { lead: [[['x-lead', '1'] as const]], headOnly: false, closeConnection: false };

function replying() {
  const response = new FakeResponse();
  const clock = new ManualClock();
  return { response, clock, reply: new ReplyWriter(response.asResponse, clock) };
}

const settle = () => new Promise((resolve) => setTimeout(resolve, 0));

async function* pieces(...texts: string[]) {
  for (const text of texts) yield Buffer.from(text);
}

const answer = (body: string | AsyncIterable<Uint8Array>) => ({
  status: 201,
  headers: { 'content-type': 'text/plain' },
  body,
});

describe('a reply', () => {
  it('a reply writes the early headers, then its own headers, then the body, once', () => {
    const { response, reply } = replying();
    expect(reply.send(answer('first'), OPTIONS)).toBeUndefined();
    expect(reply.send(answer('second'), OPTIONS)).toBeUndefined();
    expect(response.status).toBe('201 Created');
    expect(response.headers).toEqual([
      ['x-lead', '1'],
      ['content-type', 'text/plain'],
    ]);
    expect(response.body).toBe('first');
  });

  it('a reply touches nothing after the client has gone', async () => {
    const { response, reply } = replying();
    let told = 0;
    reply.onGone(() => (told += 1));
    response.abort();
    reply.onGone(() => (told += 1));
    expect(told).toBe(2);
    expect(reply.signal.aborted).toBe(true);
    expect(reply.remoteAddress()).toBe('unknown');
    await reply.send(answer('late'), OPTIONS);
    await reply.send(answer(pieces('late')), OPTIONS);
    reply.handOver(() => {
      throw new Error('must not run');
    });
    expect(response.status).toBe('');
  });

  it('a streamed reply waits with the next piece until the client has read the last one', async () => {
    const { response, reply } = replying();
    response.isFull = true;
    const sent = reply.send(answer(pieces('a', '', 'b')), OPTIONS);
    await settle();
    expect(response.body).toBe('a');
    response.drain();
    await sent;
    expect([response.body, response.ended]).toEqual(['ab', true]);
  });

  it('a reply hands over a whole body only as fast as its client reads', async () => {
    const { response, reply } = replying();
    response.isFull = true;
    const sent = reply.send(answer('0123456789'), OPTIONS);
    expect([response.body, reply.isOpen]).toEqual(['01234', true]);
    response.drain();
    await sent;
    expect([response.body, response.ended]).toEqual(['0123456789', true]);
  });

  it('a reply disconnects a client that reads nothing of a whole body, but not before the stall timeout', async () => {
    const { response, clock, reply } = replying();
    response.isFull = true;
    const sent = reply.send(answer('0123456789'), OPTIONS);
    clock.advance(HTTP_LIMITS.connection.streamStallMs - 1);
    expect(response.closed).toBe(false);
    clock.advance(1);
    await sent;
    expect(response.closed).toBe(true);
  });

  it('a reply that closes its connection writes nothing until the request has been read', async () => {
    const { response, reply } = replying();
    const sent = reply.send(answer('bye'), { ...OPTIONS, closeConnection: true });
    expect(response.status).toBe('');
    await sent;
    expect([response.body, response.ended]).toEqual(['bye', true]);
  });

  it('a streamed reply disconnects a client that reads nothing for the stall timeout, and stops its source', async () => {
    const { response, clock, reply } = replying();
    response.isFull = true;
    let stopped = false;
    async function* endless() {
      try {
        while (true) yield Buffer.from('x');
      } finally {
        stopped = true;
      }
    }
    const sent = reply.send(answer(endless()), OPTIONS);
    await settle();
    clock.advance(HTTP_LIMITS.connection.streamStallMs - 1);
    await settle();
    expect(response.closed).toBe(false);
    clock.advance(1);
    await sent;
    await settle();
    expect([response.closed, stopped]).toEqual([true, true]);
  });

  it('a streamed reply gives up a silent source when the client leaves', async () => {
    const { response, reply } = replying();
    let returned = false;
    const silent: AsyncIterable<Uint8Array> = {
      [Symbol.asyncIterator]: () => ({
        next: () => new Promise(() => {}),
        async return() {
          returned = true;
          return { done: true, value: undefined };
        },
      }),
    };
    const sent = reply.send(answer(silent), OPTIONS);
    await settle();
    response.abort();
    await sent;
    expect(returned).toBe(true);
  });
});
