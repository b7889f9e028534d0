import { describe, expect, it } from 'vitest';
import { type Failed, failed, type RailFailure } from '../../../../src/models/providers/outcome.ts';
import type { Attempts } from '../../../../src/models/routing/attempt-offers.ts';
import { refuseOutcome, retryHeaders } from '../../../../src/models/routing/refuse-outcome.ts';

const sourceOf = (provider: string) => ({ provider }) as Attempts['source'];

/** How a purchase is refused that ended like this. */
function told(outcome: Failed, more: Partial<Attempts> & { provider?: string } = {}) {
  const { provider = 'acme', ...given } = more;
  const tried = { outcome, source: sourceOf(provider), attempts: 1, upstreamMs: 0, ...given };
  const { status, error, fields, headers } = refuseOutcome(outcome, tried, {
    rateLimits: undefined,
  });
  return { status, error, fields, headers };
}

describe('a purchase that no source has delivered', () => {
  it('keeps the 429 of a lone upstream and how long it said to wait', () => {
    expect(told(failed('rate_limited', 'x', 429, 1, 20))).toMatchObject({
      status: 429,
      error: 'upstream_rate_limited',
      fields: { retry_after_seconds: 1 },
      headers: { 'x-should-retry': 'true', 'retry-after': '1', 'retry-after-ms': '20' },
    });
    expect(told(failed('rate_limited', 'x', 429, 7)).headers).toEqual({
      'x-should-retry': 'true',
      'retry-after': '7',
    });
  });

  it('sends the callers of an upstream that says no time away for half a second', () => {
    expect(told(failed('rate_limited', 'x', 429)).headers).toEqual({
      'x-should-retry': 'true',
      'retry-after': '1',
      'retry-after-ms': '500',
    });
  });

  it('of several sources says what the last of them said of when', () => {
    const limited = { outcome: failed('rate_limited', 'x', 429, 17), source: sourceOf('other') };
    const refused = told(failed('broken', 'x', 500), { attempts: 2, limited });
    expect(refused).toMatchObject({ status: 502, error: 'all_sources_failed' });
    expect(refused.headers).toEqual({ 'x-should-retry': 'true', 'retry-after': '17' });
  });

  it.each<[RailFailure, number, string]>([
    ['broken', 502, 'true'],
    ['unreachable', 502, 'true'],
    ['timeout', 502, 'true'],
    ['busy', 502, 'true'],
    ['unpayable', 503, 'true'],
    ['missing', 503, 'false'],
    ['oversize', 502, 'false'],
    ['too_dear', 502, 'false'],
  ])(
    'for %s is %i, and whether the same request could do better is told',
    (failure, status, may) => {
      const refused = told(failed(failure, 'x'));
      expect([refused.status, refused.headers['x-should-retry']]).toEqual([status, may]);
    },
  );

  it('by an engine of this process says when one may be free', () => {
    const refused = told(failed('busy', 'x', null, 3), { provider: 'local' });
    expect(refused).toMatchObject({ status: 503, error: 'engine_overloaded' });
    expect(refused.headers).toEqual({ 'x-should-retry': 'true', 'retry-after': '3' });
  });
});

describe('a refusal that is relayed', () => {
  it("keeps the upstream's words on another try, and no others", () => {
    const headers = { 'retry-after': '2', 'x-should-retry': 'true', 'x-secret': 'x' };
    expect(retryHeaders({ headers }, 0)).toEqual({ 'retry-after': '2', 'x-should-retry': 'true' });
    const odd = { 'retry-after': 'a\nb', 'x-should-retry': 'maybe', 'retry-after-ms': '40' };
    expect(retryHeaders({ headers: odd }, 0)).toEqual({
      'retry-after': '1',
      'retry-after-ms': '40',
    });
    expect(retryHeaders({}, 0)).toEqual({});
  });
});
