import { describe, expect, it } from 'vitest';
import { tightestCap } from '../../../../src/models/providers/upstream-caps.ts';

const NOW = Date.parse('2026-11-22T06:00:00Z');
const capOf = (headers: Record<string, string | string[]>) => tightestCap(headers, NOW);

const OPENAI = {
  'x-ratelimit-limit-requests': '60',
  'x-ratelimit-remaining-requests': '59',
  'x-ratelimit-reset-requests': '1s',
  'x-ratelimit-limit-tokens': '150000',
  'x-ratelimit-remaining-tokens': '30000',
  'x-ratelimit-reset-tokens': '6m0s',
};

describe('the tightest cap of an upstream', () => {
  it('the tightest rate limit of an upstream is the one with the largest used share', () => {
    expect(capOf(OPENAI)).toEqual({
      kind: 'tokens',
      remaining: 30_000,
      limit: 150_000,
      usedBps: 8_000,
      resetsAtMs: NOW + 360_000,
    });
    expect(capOf({ ...OPENAI, 'x-ratelimit-remaining-requests': '1' })).toEqual({
      kind: 'requests',
      remaining: 1,
      limit: 60,
      usedBps: 9_833,
      resetsAtMs: NOW + 1_000,
    });
  });

  it('the tightest rate limit is read from each of the four kinds of Anthropic headers', () => {
    for (const kind of ['requests', 'tokens', 'input-tokens', 'output-tokens']) {
      const others = ['requests', 'tokens', 'input-tokens', 'output-tokens'].flatMap((other) => [
        [`anthropic-ratelimit-${other}-limit`, '1000'],
        [`anthropic-ratelimit-${other}-remaining`, other === kind ? '250' : '999'],
        [`anthropic-ratelimit-${other}-reset`, '2026-11-22T06:00:30Z'],
      ]);
      expect(capOf(Object.fromEntries(others))).toEqual({
        kind: kind.replace('-', '_'),
        remaining: 250,
        limit: 1_000,
        usedBps: 7_500,
        resetsAtMs: NOW + 30_000,
      });
    }
  });

  it('a rate limit without a stated total has no share and ranks behind the others', () => {
    const alone = { 'x-ratelimit-remaining-requests': '3' };
    const unknown = { limit: undefined, usedBps: null, resetsAtMs: undefined };
    expect(capOf(alone)).toEqual({ kind: 'requests', remaining: 3, ...unknown });
    const limited = {
      'x-ratelimit-limit-tokens': '100',
      'x-ratelimit-remaining-tokens': '100',
    };
    expect(capOf({ ...alone, ...limited })).toMatchObject({ kind: 'tokens', usedBps: 0 });
    // Nothing is left of it, however much it was.
    const empty = { 'x-ratelimit-remaining-requests': '0' };
    expect(capOf({ ...empty, ...limited })).toEqual({ kind: 'requests', remaining: 0, ...unknown });
  });

  it('a rate limit with more remaining than its total counts as unused', () => {
    const rounded = { 'x-ratelimit-limit-tokens': '900', 'x-ratelimit-remaining-tokens': '1000' };
    expect(capOf(rounded)).toMatchObject({ usedBps: 0, remaining: 1_000 });
  });

  it('a rate limit with implausible numbers is ignored', () => {
    const odd = ['-1', '1.5', '1e9', 'NaN', 'Infinity', '', ' 7', '0x1', '7,7', '9'.repeat(13)];
    for (const remaining of [...odd, '7'.repeat(10_000), ['7', '7']]) {
      expect(capOf({ 'x-ratelimit-remaining-tokens': remaining })).toBeUndefined();
      const limit = remaining;
      expect(
        capOf({ 'x-ratelimit-limit-tokens': limit, 'x-ratelimit-remaining-tokens': '5' }),
      ).toMatchObject({ remaining: 5, limit: undefined, usedBps: null });
    }
    expect(capOf({ 'x-ratelimit-limit-tokens': '100' })).toBeUndefined();
    expect(capOf({})).toBeUndefined();
  });
});
