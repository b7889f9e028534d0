import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../../../src/kernel/manual-clock.ts';
import {
  answerWithin,
  CallTimeout,
  isConnectionError,
  isTransient,
} from '../../../../src/platform/postgres/transient.ts';

const failure = (code: string) => Object.assign(new Error('failed'), { code });

describe('isTransient', () => {
  it('sends again what was lost, refused for want of room, or in the way of another', () => {
    for (const code of ['ECONNRESET', 'CONNECTION_CLOSED', '08006', '53300', '40P01', '57P03']) {
      expect(isTransient({ code }), code).toBe(true);
    }
    expect(isTransient(new CallTimeout('late'))).toBe(true);
  });

  it('does not send again what can never succeed', () => {
    for (const code of ['22P02', '42883', '23514', 'P0001', 'UNDEFINED_VALUE']) {
      expect(isTransient({ code }), code).toBe(false);
    }
    expect(isTransient(new Error('bug'))).toBe(false);
    expect(isTransient(undefined)).toBe(false);
  });

  it('sends again where two processes wrote one posting id, and only there', () => {
    expect(isTransient({ code: '23505', constraint_name: 'postings_pkey' })).toBe(true);
    expect(isTransient({ code: '23505', constraint_name: 'sessions_pkey' })).toBe(false);
  });
});

describe('isConnectionError', () => {
  const GONE = [
    'ENOTFOUND',
    'ECONNABORTED',
    'ERR_STREAM_DESTROYED',
    'ECONNREFUSED',
    'CONNECTION_CLOSED',
    '08006',
    '40003',
    '53300',
    '57P01',
    '57P03',
    '25P03',
  ];

  it('never says of a database that it is away where isTransient says that it is not', () => {
    for (const code of GONE) {
      expect(isConnectionError(failure(code)), code).toBe(true);
      expect(isTransient(failure(code)), code).toBe(true);
    }
  });

  it('does not wait for a server that answers, whatever it answers', () => {
    for (const code of ['23505', '40001', '57014', '25006', '53200', 'CALL_TIMEOUT']) {
      expect(isConnectionError(failure(code)), code).toBe(false);
    }
    expect(isConnectionError(new Error('a bug'))).toBe(false);
    expect(isConnectionError('not an error')).toBe(false);
  });

  it('reads a list of addresses that were tried in vain', () => {
    const tried = new AggregateError([failure('ECONNREFUSED'), failure('ECONNREFUSED')]);
    expect(isConnectionError(tried)).toBe(true);
    expect(isTransient(tried)).toBe(true);
  });
});

describe('answerWithin', () => {
  it('passes on what comes in time and gives up on what does not', async () => {
    const clock = new ManualClock();
    expect(await answerWithin(clock, 100, Promise.resolve('done'))).toBe('done');
    await expect(answerWithin(clock, 100, Promise.reject(failure('22P02')))).rejects.toThrow(
      'failed',
    );
    const late = answerWithin(clock, 100, new Promise(() => {}));
    clock.advance(99);
    await Promise.resolve();
    clock.advance(1);
    await expect(late).rejects.toBeInstanceOf(CallTimeout);
  });
});
