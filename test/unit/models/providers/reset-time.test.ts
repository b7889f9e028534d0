import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MODEL_LIMITS } from '../../../../src/models/limits.ts';
import { resetTime, waitOf } from '../../../../src/models/providers/reset-time.ts';

const NOW = Date.parse('2026-11-22T06:00:00Z');
const retryAfterSeconds = (value: string | readonly string[] | undefined, nowMs: number) =>
  waitOf({ 'retry-after': value }, nowMs).seconds;
const inMs = (text: string) => {
  const at = resetTime(text, NOW);
  return at === undefined ? undefined : at - NOW;
};

describe('the time at which a cap is whole again', () => {
  it('a rate limit’s reset time is read from a duration, seconds or a date', () => {
    const cases = {
      '1s': 1_000,
      '6m0s': 360_000,
      '120ms': 120,
      '8.64s': 8_640,
      '1m26.4s': 86_400,
      '17h3m46.077s': 61_426_077,
      '2d': 172_800_000,
      '1s500ms': 1_500,
      '0s': 0,
      '17': 17_000,
      '0.5': 500,
      '2026-11-22T06:01:00Z': 60_000,
      '2026-11-22T07:01:00.250+01:00': 60_250,
      '2026-11-22T05:59:59Z': -1_000,
    };
    for (const [text, ms] of Object.entries(cases)) expect([text, inMs(text)]).toEqual([text, ms]);
  });

  it('a rate limit’s reset time is unknown when its text is invalid or implausible', () => {
    const texts = ['', ' ', 's', '-1s', '1 s', '1x', 'NaN', 'Infinity', '1e3', '0x10', '1.s'];
    texts.push('2026-11-22', '2026-13-45T99:99:99Z', '9999-01-01T00:00:00Z', '32d', '999999999');
    for (const text of texts) expect([text, inMs(text)]).toEqual([text, undefined]);
  });
});

describe('how long to wait', () => {
  it('a retry-after header is read as whole seconds, rounded up, or as a date', () => {
    expect(retryAfterSeconds('7', NOW)).toBe(7);
    expect(retryAfterSeconds('0.2', NOW)).toBe(1);
    expect(retryAfterSeconds('Sun, 22 Nov 2026 06:00:09 GMT', NOW)).toBe(9);
    expect(retryAfterSeconds('Sun, 22 Nov 2026 05:00:00 GMT', NOW)).toBe(0);
  });

  it('a retry-after header is ignored when it is missing, repeated or implausible', () => {
    const odd = [undefined, ['1', '2'], '', '-1', '1, 2', 'soon', '86401', '9'.repeat(10_000)];
    odd.push('Sun, 22 Nov 2036 06:00:09 GMT', 'Xyz, 99 Abc 2026 06:00:09 GMT', '2026-11-22');
    for (const value of odd) expect(retryAfterSeconds(value, NOW)).toBeNull();
  });
});

describe('how long an upstream sends its callers away', () => {
  it('retry-after-ms is preferred over retry-after, and also gives whole seconds', () => {
    expect(waitOf({ 'retry-after-ms': '20', 'retry-after': '9' }, NOW)).toEqual({
      seconds: 1,
      ms: 20,
    });
    expect(waitOf({ 'retry-after-ms': '1500.2' }, NOW)).toEqual({ seconds: 2, ms: 1_501 });
    expect(waitOf({ 'retry-after': '9' }, NOW)).toEqual({ seconds: 9 });
    expect(waitOf({}, NOW)).toEqual({ seconds: null });
  });

  it('an implausible retry-after-ms is ignored in favour of retry-after', () => {
    const odd = ['', '-1', 'soon', '999999999', '1e3', ['1', '2'], '9'.repeat(10_000)];
    for (const value of odd) {
      expect(waitOf({ 'retry-after-ms': value, 'retry-after': '9' }, NOW)).toEqual({ seconds: 9 });
    }
  });
});

it('no header text makes a reset time or a wait that is out of range, or throws', () => {
  const text = fc.oneof(
    fc.string(),
    fc.stringMatching(/^[\d.smhd:TZ+-]{0,40}$/),
    fc.nat().map((n) => `${n}ms`),
    fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
    fc.date({ noInvalidDate: true }).map((date) => date.toUTCString()),
  );
  fc.assert(
    fc.property(text, (said) => {
      const at = resetTime(said, NOW) ?? NOW;
      expect(Number.isInteger(at)).toBe(true);
      expect(Math.abs(at - NOW)).toBeLessThanOrEqual(MODEL_LIMITS.upstream.rateLimitResetMs);
      const wait = retryAfterSeconds(said, NOW) ?? 0;
      expect(Number.isInteger(wait) && wait >= 0).toBe(true);
      expect(wait).toBeLessThanOrEqual(MODEL_LIMITS.upstream.retryAfterSeconds);
    }),
    { numRuns: 1_000 },
  );
});
