import { describe, expect, it } from 'vitest';
import {
  answerWithin,
  CallTimeout,
  isConnectionError,
  isTransient,
} from '../../../../src/platform/postgres/transient.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const failure = (code: string) => Object.assign(new Error('failed'), { code });

describe('isTransient', () => {
  it('isTransient is true for lost connections, exhausted resources, conflicts and timeouts', () => {
    for (const code of ['ECONNRESET', 'CONNECTION_CLOSED', '08006', '53300', '40P01', '57P03']) {
      expect(isTransient({ code }), code).toBe(true);
    }
    expect(isTransient(new CallTimeout('late'))).toBe(true);
  });

  it('isTransient is false for errors that can never succeed', () => {
    for (const code of ['22P02', '42883', '23514', 'P0001', 'UNDEFINED_VALUE']) {
      expect(isTransient({ code }), code).toBe(false);
    }
    expect(isTransient(new Error('bug'))).toBe(false);
    expect(isTransient(undefined)).toBe(false);
  });

  it('isTransient is true for a duplicate posting id and no other unique violation', () => {
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

  it('isConnectionError is true only where isTransient is true as well', () => {
    for (const code of GONE) {
      expect(isConnectionError(failure(code)), code).toBe(true);
      expect(isTransient(failure(code)), code).toBe(true);
    }
  });

  it('isConnectionError is false for any error of a server that answers', () => {
    for (const code of ['23505', '40001', '57014', '25006', '53200', 'CALL_TIMEOUT']) {
      expect(isConnectionError(failure(code)), code).toBe(false);
    }
    expect(isConnectionError(new Error('a bug'))).toBe(false);
    expect(isConnectionError('not an error')).toBe(false);
  });

  it('isConnectionError and isTransient read a list of addresses that all failed', () => {
    const tried = new AggregateError([failure('ECONNREFUSED'), failure('ECONNREFUSED')]);
    expect(isConnectionError(tried)).toBe(true);
    expect(isTransient(tried)).toBe(true);
  });
});

describe('answerWithin', () => {
  it('answerWithin passes on a result in time and throws CallTimeout after the limit', async () => {
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
