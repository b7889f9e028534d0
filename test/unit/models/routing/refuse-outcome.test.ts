import { describe, expect, it } from 'vitest';
import { silentLog } from '../../../../src/kernel/log.ts';
import { type Failed, failed, type RailFailure } from '../../../../src/models/providers/outcome.ts';
import type { Attempts } from '../../../../src/models/purchase/attempt.ts';
import { answerUndelivered, refuseOutcome } from '../../../../src/models/routing/refuse-outcome.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

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
  it('a single source’s 429 is relayed with its retry-after', () => {
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

  it('a 429 without a stated wait gets a retry-after of half a second', () => {
    expect(told(failed('rate_limited', 'x', 429)).headers).toEqual({
      'x-should-retry': 'true',
      'retry-after': '1',
      'retry-after-ms': '500',
    });
  });

  it('a failure of several sources has the retry-after of the last rate-limited source', () => {
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
    'a request that fails as %s is refused with %i and says whether to retry',
    (failure, status, may) => {
      const refused = told(failed(failure, 'x'));
      expect([refused.status, refused.headers['x-should-retry']]).toEqual([status, may]);
    },
  );

  it('a busy local engine is a 503 with the time until it may be free', () => {
    const refused = told(failed('busy', 'x', null, 3), { provider: 'local' });
    expect(refused).toMatchObject({ status: 503, error: 'engine_overloaded' });
    expect(refused.headers).toEqual({ 'x-should-retry': 'true', 'retry-after': '3' });
  });
});

describe('a refusal that is relayed', () => {
  const relayed = (headers?: Record<string, string>) => {
    const source = sourceOf('acme');
    const body = Buffer.from('no');
    const outcome = { kind: 'declined', status: 400, body, contentType: 'text/plain' } as const;
    const tried = { outcome: { ...outcome, headers }, source, attempts: 1, upstreamMs: 0 };
    const served = { model: 'a/b', rail: 'direct-account', attempts: 1 };
    const answer = answerUndelivered({ clock: new ManualClock(), log: silentLog }, tried, served);
    const { 'content-type': _, ...others } = answer.headers;
    return others;
  };
  const OWN = relayed();

  it('a relayed refusal keeps the upstream’s retry headers and no others', () => {
    const headers = { 'retry-after': '2', 'x-should-retry': 'true', 'x-secret': 'x' };
    expect(relayed(headers)).toEqual({ ...OWN, 'retry-after': '2', 'x-should-retry': 'true' });
    const odd = { 'retry-after': 'a\nb', 'x-should-retry': 'maybe', 'retry-after-ms': '40' };
    expect(relayed(odd)).toEqual({
      ...OWN,
      'retry-after': '1',
      'retry-after-ms': '40',
    });
    for (const name of ['retry-after', 'retry-after-ms', 'x-should-retry']) {
      expect(OWN).not.toHaveProperty(name);
    }
  });
});
