import { describe, expect, it } from 'vitest';
import { HTTP_LIMITS } from '../../../../src/http/limits.ts';
import { createHealthChecks } from '../../../../src/http/server/health-checks.ts';
import { createStatusBoard } from '../../../../src/http/server/public-status.ts';
import type { BreakerVerdict, EtherPrice } from '../../../../src/platform/chain/breaker.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const CLEAR: BreakerVerdict = { kind: 'clear', reason: 0, reasonText: 'none' };
const well = async () => {};
const away = () => Promise.reject(new Error('away'));

function setUp(parts: { db?: () => Promise<void>; indexer?: () => Promise<void> } = {}) {
  const clock = new ManualClock();
  const chain = {
    verdict: CLEAR,
    price: { priceUsd: '3120.55', isStale: false } as EtherPrice | undefined,
  };
  const probes = { db: parts.db ?? well, managedWallet: undefined, indexer: parts.indexer };
  const board = createStatusBoard({
    clock,
    breaker: { check: () => chain.verdict, price: () => chain.price },
    health: createHealthChecks(clock, probes),
  });
  return { clock, chain, board };
}

describe('the public status', () => {
  it('the public status is operational while paid calls are allowed, also without an indexer', async () => {
    const { board } = setUp();
    expect(await board.read()).toEqual({
      timestamp: '2026-01-01T00:00:00.000Z',
      overall: 'operational',
      indexer: { status: 'down', lastUpdateTimestamp: null, lagSeconds: null },
      oracle: {
        status: 'operational',
        circuitBreaker: { isActive: false, reason: 0, reasonText: 'none' },
        prices: [{ symbol: 'WETH', priceUsd: '3120.55', isStale: false }],
      },
      markets: [],
      activity: { matchesLast24h: 0, totalMatches: 0, avgTimeToMatchSeconds: null },
    });
  });

  it('the public status is degraded while paid calls are refused, and says why', async () => {
    const { board, chain } = setUp();
    chain.verdict = { kind: 'active', reason: 4, reasonText: 'late' };
    expect(await board.read()).toMatchObject({
      overall: 'degraded',
      oracle: {
        status: 'degraded',
        circuitBreaker: { isActive: true, reason: 4, reasonText: 'late' },
      },
    });
  });

  it('the public status shows an active breaker while the chain cannot be read, since no payment is made then', async () => {
    const { board, chain } = setUp();
    chain.verdict = { kind: 'stale', reason: 7, reasonText: 'unread' };
    chain.price = undefined;
    expect(await board.read()).toMatchObject({
      overall: 'degraded',
      oracle: {
        status: 'down',
        circuitBreaker: { isActive: true, reason: 7, reasonText: 'unread' },
        prices: [],
      },
    });
  });

  it('the public status is down without the database, and degraded by an unreachable indexer', async () => {
    expect((await setUp({ db: away }).board.read()).overall).toBe('down');
    const status = await setUp({ indexer: away }).board.read();
    expect(status).toMatchObject({ overall: 'degraded', indexer: { status: 'degraded' } });
    const whole = await setUp({ indexer: well }).board.read();
    expect(whole).toMatchObject({ overall: 'operational', indexer: { status: 'operational' } });
  });

  it('the public status is computed at most twice a minute', async () => {
    const { board, chain, clock } = setUp();
    await board.read();
    chain.verdict = { kind: 'stale', reason: 7, reasonText: 'unread' };
    clock.advance(HTTP_LIMITS.health.statusMs - 1);
    expect((await board.read()).overall).toBe('operational');
    clock.advance(1);
    expect((await board.read()).overall).toBe('degraded');
  });
});
