import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkHeader } from '../../../../src/http/pipeline/output-headers.ts';
import type { Source } from '../../../../src/models/catalogue/catalogue.ts';
import { failed } from '../../../../src/models/providers/outcome.ts';
import type { Attempted, Attempts } from '../../../../src/models/purchase/attempt.ts';
import {
  createRateLimitAdvisory,
  type RateLimitAdvisory,
} from '../../../../src/models/routing/rate-limit-advisory.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const clock = new ManualClock(Date.parse('2026-11-22T06:00:00Z'));

type Headers = Readonly<Record<string, string | string[]>>;

const source = (provider: string, rail: Source['rail'] = 'direct-account'): Source => ({
  rail,
  provider,
  upstreamModel: 'x',
  rates: {},
  marginBps: 0,
});
const tried = (outcome: Attempted<unknown>['outcome'], more: Partial<Attempts> = {}) => ({
  outcome,
  source: source('acme'),
  attempts: 1,
  upstreamMs: 1,
  ...more,
});
const answered = (headers: Headers) =>
  tried({ kind: 'completed', status: 200, headers } as Attempted<unknown>['outcome']);

function told(
  what: Parameters<RateLimitAdvisory>[0],
  nearLimitBps?: number,
): Record<string, unknown> | undefined {
  const text = createRateLimitAdvisory({ clock, enabled: true, nearLimitBps })?.(what);
  return text === undefined ? undefined : JSON.parse(text);
}

const TOKENS = {
  'x-ratelimit-limit-tokens': '1000',
  'x-ratelimit-remaining-tokens': '100',
  'x-ratelimit-reset-tokens': '6m0s',
};
const tightest = {
  kind: 'tokens',
  remaining: 100,
  limit: 1_000,
  used_bps: 9_000,
  resets_at: '2026-11-22T06:06:00.000Z',
};

describe('the rate-limit advisory', () => {
  it('the rate-limit advisory has the upstream’s tightest limit, and whether its account is shared', () => {
    const common = { provider: 'acme', tightest, headroom: 100 };
    expect(told(answered(TOKENS))).toEqual({ ...common, shared: true });
    const own = { ...answered(TOKENS), source: source('acme', 'byok') };
    expect(told(own)).toEqual({ ...common, shared: false });
  });

  it('the rate-limit advisory has near_limit only when a threshold is set', () => {
    expect(told(answered(TOKENS), 9_001)).toMatchObject({ near_limit: false });
    expect(told(answered(TOKENS), 9_000)).toMatchObject({ near_limit: true });
    expect(told(answered(TOKENS))).not.toHaveProperty('near_limit');
    const unlimited = { 'x-ratelimit-remaining-tokens': '100' };
    expect(told(answered(unlimited), 1)).toMatchObject({
      near_limit: false,
      tightest: { used_bps: null },
    });
    expect(told(answered({ 'x-ratelimit-remaining-tokens': '0' }), 9_000)).toMatchObject({
      near_limit: true,
    });
  });

  it('the rate-limit advisory names the last rate-limited source when no source has delivered', () => {
    const limited = {
      outcome: { ...failed('rate_limited', '', 429, 20), headers: TOKENS },
      source: source('slow'),
    };
    const last = { ...failed('broken', '', 500), headers: {} };
    const common = { provider: 'slow', shared: true, retry_after_seconds: 20 };
    expect(told(tried(last, { limited }))).toEqual({ ...common, tightest, headroom: 100 });
    const bare = { ...limited, outcome: { ...limited.outcome, headers: {} } };
    expect(told(tried(last, { limited: bare }), 10_000)).toEqual({ ...common, near_limit: true });
    // It names the source that served in the end, and none that was tried before.
    expect(told({ ...answered(TOKENS), limited })).toMatchObject({ provider: 'acme' });
  });

  it('the rate-limit advisory is absent without rate-limit headers, without a response and when disabled', () => {
    expect(told(answered({ 'retry-after': '7' }))).toBeUndefined();
    expect(told(tried({ kind: 'resting', restMs: 0 }))).toBeUndefined();
    expect(told(tried({ kind: 'aborted' }))).toBeUndefined();
    expect(told(tried(failed('busy', '', null, 1)))).toBeUndefined();
    expect(createRateLimitAdvisory({ clock, enabled: false })).toBeUndefined();
  });

  it('the rate-limit advisory is a short valid header, whatever the upstream sends', () => {
    const names = ['limit', 'remaining', 'reset'].flatMap((part) => [
      ...['requests', 'tokens'].map((kind) => `x-ratelimit-${part}-${kind}`),
      ...['requests', 'input-tokens'].map((kind) => `anthropic-ratelimit-${kind}-${part}`),
    ]);
    const word = fc.oneof(
      fc.nat().map(String),
      fc.integer().map(String),
      fc.double().map(String),
      fc.string(),
      fc.string({ unit: 'binary' }),
      fc.constant('6m0s'),
      fc.constant('7'.repeat(10_000)),
      fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
    );
    const value = fc.oneof(word, fc.array(word, { maxLength: 3 }));
    const headers = fc.dictionary(fc.constantFrom(...names), value, { maxKeys: 12 });
    const advise = createRateLimitAdvisory({ clock, enabled: true, nearLimitBps: 5_000 });
    const caps = new Set<unknown>();
    fc.assert(
      fc.property(headers, (said) => {
        const text = advise?.(answered(said));
        if (text === undefined) return;
        checkHeader('x', text);
        expect(text.length).toBeLessThan(300);
        const read = JSON.parse(text) as { tightest: Record<string, number | null> };
        const { remaining, used_bps: usedBps } = read.tightest;
        expect(Number.isSafeInteger(remaining) && Number(remaining) >= 0).toBe(true);
        expect(usedBps === null || (Number(usedBps) >= 0 && Number(usedBps) <= 10_000)).toBe(true);
        caps.add(read.tightest.kind);
      }),
      { numRuns: 2_000 },
    );
    expect(caps.size).toBeGreaterThan(1);
  });
});
