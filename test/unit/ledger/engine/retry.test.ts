import { describe, expect, it } from 'vitest';
import { LEDGER_LIMITS } from '../../../../src/ledger/engine/limits.ts';
import { createRetry, createRetryingRead } from '../../../../src/ledger/engine/retry.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const lost = () => Object.assign(new Error('lost'), { code: 'ECONNRESET' });
const settleDown = async () => {
  for (let i = 0; i < 10; i++) await Promise.resolve();
};

describe('createRetry', () => {
  it('createRetry sends a lost call again, waiting longer each time but never beyond a second', async () => {
    const clock = new ManualClock();
    const sentAt: number[] = [];
    const start = clock.now();
    const answer = createRetry(clock)(
      async () => {
        sentAt.push(clock.now() - start);
        if (sentAt.length < 9) throw lost();
        return 'done';
      },
      { until: () => false },
    );
    for (let i = 0; i < 1_000; i++) {
      await settleDown();
      clock.advance(5);
    }
    expect(await answer).toBe('done');
    const gaps = sentAt.slice(1).map((at, i) => at - (sentAt[i] ?? 0));
    expect(gaps[0]).toBe(LEDGER_LIMITS.calls.retryMs.min);
    expect(Math.max(...gaps)).toBe(LEDGER_LIMITS.calls.retryMs.max);
  });

  it('createRetry sends a call again that gets no response', async () => {
    const clock = new ManualClock();
    let calls = 0;
    const answer = createRetry(clock)(
      () => (++calls === 1 ? new Promise<string>(() => {}) : Promise.resolve('done')),
      { until: () => false },
    );
    clock.advance(LEDGER_LIMITS.calls.timeoutMs);
    await settleDown();
    clock.advance(LEDGER_LIMITS.calls.retryMs.min);
    expect(await answer).toBe('done');
  });

  it('createRetry sends a call again although its preparation hangs', async () => {
    const clock = new ManualClock();
    let calls = 0;
    const answer = createRetry(clock)(
      () => (++calls === 1 ? Promise.reject(lost()) : Promise.resolve('done')),
      { until: () => false, before: () => new Promise(() => {}) },
    );
    await settleDown();
    clock.advance(LEDGER_LIMITS.calls.retryMs.min);
    await settleDown();
    expect(calls).toBe(1);
    clock.advance(LEDGER_LIMITS.lease.renewMs);
    expect(await answer).toBe('done');
  });

  it('createRetry rejects at once where a resend cannot help', async () => {
    let calls = 0;
    const call = async () => {
      calls++;
      throw new Error('bug');
    };
    await expect(createRetry(new ManualClock())(call, { until: () => false })).rejects.toThrow(
      'bug',
    );
    expect(calls).toBe(1);
  });
});

describe('createPatientRead', () => {
  it('createPatientRead reads again after a lost connection, as long as a caller would wait', async () => {
    const clock = new ManualClock();
    let calls = 0;
    const once = () => (++calls === 1 ? Promise.reject(lost()) : Promise.resolve('read'));
    const answer = createRetryingRead(clock)(once);
    await settleDown();
    clock.advance(LEDGER_LIMITS.calls.retryMs.min);
    expect(await answer).toBe('read');

    const never = createRetryingRead(clock)(() => Promise.reject(lost()));
    const told = expect(never).rejects.toThrow('lost');
    for (let i = 0; i < 20; i++) {
      await settleDown();
      clock.advance(LEDGER_LIMITS.calls.retryMs.max);
    }
    await told;
  });

  it('createPatientRead stops reading on abort', async () => {
    const read = createRetryingRead(new ManualClock(), () => true);
    await expect(read(() => Promise.reject(lost()))).rejects.toThrow('lost');
  });
});
