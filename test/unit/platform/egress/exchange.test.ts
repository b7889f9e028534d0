import type { Dispatcher } from 'undici';
import { describe, expect, it } from 'vitest';
import {
  type ExchangeOptions,
  exchange,
  type GuardedAnswer,
} from '../../../../src/platform/egress/exchange.ts';
import { EGRESS_LIMITS } from '../../../../src/platform/egress/limits.ts';
import { BodyTooLarge, SendFailed } from '../../../../src/platform/egress/send-failed.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

/** Time and order without a socket: the carrier is told by hand what undici would say, and when. */

const BOUNDS = { firstByteMs: 1_000, idleMs: 500, totalMs: 5_000, maxResponseBytes: 1_000 };

function begin(options: Partial<ExchangeOptions> = {}) {
  const clock = new ManualClock();
  const told: string[] = [];
  const aborts: Error[] = [];
  const stop = new AbortController();
  let handler: Dispatcher.DispatchHandler | undefined;
  const carrier = {
    dispatch: (_options: unknown, given: Dispatcher.DispatchHandler) => {
      handler = given;
    },
    hold: () => told.push('hold'),
    proceed: () => told.push('proceed'),
    destroy: () => told.push('destroy'),
  };
  const answered = exchange(carrier, {
    dispatch: { path: '/', method: 'GET' },
    ...BOUNDS,
    deadlineMs: clock.monotonicMs() + BOUNDS.totalMs,
    signal: stop.signal,
    clock,
    onDone: () => told.push('done'),
    onOver: () => {},
    ...options,
  });
  const outcome: Promise<GuardedAnswer | Error> = answered.catch((error: Error) => error);
  const head = (headers: readonly string[]) => ({
    ...control,
    rawHeaders: headers.map((text) => Buffer.from(text, 'latin1')),
  });
  const control = {
    aborted: false,
    paused: false,
    reason: null,
    abort: (reason: Error) => void aborts.push(reason),
    pause: () => told.push('pause'),
    resume: () => told.push('resume'),
  };
  const says = {
    start: () => handler?.onRequestStart?.(control, {}),
    head: (status = 200, ...headers: string[]) =>
      handler?.onResponseStart?.(head(headers), status, {}),
    data: (size: number) => handler?.onResponseData?.(control, Buffer.alloc(size, 'x')),
    end: () => handler?.onResponseEnd?.(control, {}),
    error: (error = new Error('broken')) => handler?.onResponseError?.(control, error),
  };
  const failure = async () => {
    const error = await outcome;
    if (error instanceof SendFailed)
      return { reason: error.reason, beforeBytes: error.beforeBytes };
    throw new Error('not a failure', { cause: error });
  };
  const answer = async () => {
    const given = await outcome;
    if (given instanceof Error) throw given;
    return given;
  };
  return { clock, told, aborts, stop, says, outcome, failure, answer };
}

describe('before the connection is written to', () => {
  it('a failure, timeout or abort before the first byte leaves the request unsent for good', async () => {
    for (const [reason, happens] of [
      ['broken', ({ says }) => says.error()],
      ['timeout', ({ clock }) => clock.advance(BOUNDS.firstByteMs)],
      ['aborted', ({ stop }) => stop.abort()],
    ] satisfies [string, (one: ReturnType<typeof begin>) => void][]) {
      const one = begin();
      happens(one);
      expect(await one.failure()).toEqual({ reason, beforeBytes: true });
      expect(one.told).toEqual(['destroy']);
      // Too late: undici asks right before it writes, and writes nothing when it is aborted there.
      one.says.start();
      expect(one.aborts).toHaveLength(1);
    }
  });

  it('a request whose signal has fired already is never dispatched', async () => {
    const one = begin({ signal: AbortSignal.abort() });
    expect(await one.failure()).toEqual({ reason: 'aborted', beforeBytes: true });
    expect(one.says.start()).toBeUndefined();
    expect(one.aborts).toEqual([]);
  });
});

describe('once it is written to', () => {
  it('a request that was begun is never reported as unsent', async () => {
    for (const [reason, happens] of [
      ['broken', ({ says }) => says.error()],
      ['timeout', ({ clock }) => clock.advance(BOUNDS.firstByteMs)],
      ['aborted', ({ stop }) => stop.abort()],
    ] satisfies [string, (one: ReturnType<typeof begin>) => void][]) {
      const one = begin();
      one.says.start();
      happens(one);
      expect(await one.failure()).toEqual({ reason, beforeBytes: false });
    }
  });

  it('a request is not written a second time', () => {
    const one = begin();
    one.says.start();
    expect(one.aborts).toEqual([]);
    one.says.start();
    expect(one.aborts).toHaveLength(1);
  });
});

describe('the head of an answer', () => {
  it('response headers must arrive within `firstByteMs`, which interim responses do not extend', async () => {
    const one = begin();
    one.says.start();
    one.clock.advance(BOUNDS.firstByteMs - 1);
    one.says.head(103);
    one.clock.advance(1);
    expect(await one.failure()).toEqual({ reason: 'timeout', beforeBytes: false });
  });

  it('response headers may follow a bounded number of interim responses', async () => {
    const one = begin();
    one.says.start();
    for (let i = 0; i < EGRESS_LIMITS.response.interim; i++) one.says.head(103);
    expect(one.told).toEqual([]);
    one.says.head(103);
    expect(await one.failure()).toEqual({ reason: 'broken', beforeBytes: false });
  });

  it('response headers are returned unchanged but for trailing white space', async () => {
    const one = begin();
    one.says.start();
    one.says.head(200, 'X-A', 'b \t', 'x-a', ' c');
    const { headers } = await one.answer();
    expect(headers).toEqual([
      ['X-A', 'b'],
      ['x-a', ' c'],
    ]);
  });
});

describe('the body of an answer', () => {
  async function answered(options: Partial<ExchangeOptions> = {}, ...headers: string[]) {
    const one = begin(options);
    one.says.start();
    one.says.head(200, ...headers);
    return { ...one, body: (await one.answer()).body };
  }
  const readAll = async (body: AsyncIterable<Uint8Array>) => {
    let bytes = 0;
    for await (const chunk of body) bytes += chunk.byteLength;
    return bytes;
  };

  it('a response body may take until the deadline as long as it moves', async () => {
    const one = await answered();
    const read = readAll(one.body);
    for (let ms = 0; ms < BOUNDS.totalMs - BOUNDS.idleMs; ms += BOUNDS.idleMs - 1) {
      one.says.data(1);
      one.clock.advance(BOUNDS.idleMs - 1);
    }
    expect(one.told).toEqual([]);
    for (let i = 0; i < 3; i++) {
      one.says.data(1);
      one.clock.advance(BOUNDS.idleMs - 1);
    }
    await expect(read).rejects.toMatchObject({ reason: 'timeout', beforeBytes: false });
  });

  it('a response body that does not move is given up after `idleMs`', async () => {
    const one = await answered();
    const read = readAll(one.body);
    one.clock.advance(BOUNDS.idleMs - 1);
    expect(one.told).toEqual([]);
    one.clock.advance(1);
    await expect(read).rejects.toMatchObject({ reason: 'timeout' });
    expect(one.told).toEqual(['destroy']);
  });

  it('a response body waits for a slow reader past the idle limit, but not past the deadline', async () => {
    const size = EGRESS_LIMITS.response.queueBytes;
    const one = await answered({ maxResponseBytes: 2 * size });
    one.says.data(size);
    expect(one.told).toEqual(['hold']);
    one.clock.advance(BOUNDS.totalMs - 1);
    expect(one.told).toEqual(['hold']);
    one.clock.advance(1);
    expect(one.told).toEqual(['hold', 'destroy']);
    await expect(readAll(one.body)).rejects.toMatchObject({ reason: 'timeout' });
  });

  it('a response body resumes when its reader has caught up, with a new idle limit', async () => {
    const size = EGRESS_LIMITS.response.queueBytes;
    const one = await answered({ maxResponseBytes: 2 * size });
    one.says.data(size);
    one.clock.advance(2 * BOUNDS.idleMs);
    const read = readAll(one.body);
    await Promise.resolve();
    expect(one.told).toEqual(['hold', 'proceed']);
    one.clock.advance(BOUNDS.idleMs);
    await expect(read).rejects.toMatchObject({ reason: 'timeout' });
  });

  it('a response body ends once, ignores later events and leaves no timer', async () => {
    const one = await answered();
    one.says.data(3);
    one.says.end();
    one.stop.abort();
    one.clock.advance(BOUNDS.totalMs);
    one.says.error();
    expect(await readAll(one.body)).toBe(3);
    expect(one.told).toEqual(['proceed', 'done']);
  });

  it('a response body is limited by its received bytes and by its Content-Length', async () => {
    const came = await answered();
    came.says.data(BOUNDS.maxResponseBytes);
    came.says.data(1);
    await expect(readAll(came.body)).rejects.toBeInstanceOf(BodyTooLarge);
    expect(came.told).toContain('destroy');

    for (const length of ['1001', '99999999999999999999']) {
      const announced = await answered({}, 'content-LENGTH', length);
      expect(announced.told).toEqual(['destroy']);
      await expect(readAll(announced.body)).rejects.toBeInstanceOf(BodyTooLarge);
    }
    expect((await answered({}, 'content-length', '1000')).told).toEqual([]);
    const dispatch = { path: '/', method: 'HEAD' } as const;
    expect((await answered({ dispatch }, 'content-length', '1001')).told).toEqual([]);
  });
});
