import { describe, expect, it } from 'vitest';
import { silentLog } from '../../../../src/kernel/log.ts';
import { createBreaker, formatPrice } from '../../../../src/platform/chain/breaker.ts';
import { CHAIN_LIMITS } from '../../../../src/platform/chain/limits.ts';
import { CHAIN_ID, FEEDS, feedsChain } from '../../../support/fakes/feeds-chain.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

function setUp() {
  const clock = new ManualClock();
  const { rpc, state } = feedsChain(clock.now() / 1_000);
  const deps = { feeds: FEEDS, chainId: CHAIN_ID, skewSeconds: 30, clock, log: silentLog };
  return { clock, state, deps, breaker: createBreaker({ ...deps, rpc }) };
}

describe('the circuit breaker', () => {
  it('the circuit breaker is clear once the chain was read and is healthy', async () => {
    const { breaker } = setUp();
    expect(breaker.check()).toMatchObject({ kind: 'stale', reason: 7 });
    await breaker.tick();
    expect(breaker.check()).toEqual({ kind: 'clear', reason: 0, reasonText: 'none' });
    expect(breaker.price()).toEqual({ priceUsd: '3000', isStale: false });
  });

  it('the circuit breaker is active with a reason until the chain gives none', async () => {
    const { breaker, state } = setUp();
    const { price } = state;
    state.price = [price[0], price[1] * 2n, price[2], price[3]];
    await breaker.tick();
    expect(breaker.check()).toMatchObject({ kind: 'active', reason: 5 });
    state.price = price;
    await breaker.tick();
    expect(breaker.check().kind).toBe('clear');
  });

  it('a check of the circuit breaker sends no request to the node', async () => {
    const { breaker, state } = setUp();
    await breaker.tick();
    const asked = state.asked.length;
    for (let i = 0; i < 100; i++) breaker.check();
    expect(state.asked.length).toBe(asked);
  });

  it('the circuit breaker forgives one failed reading and is stale after two in a row', async () => {
    const { breaker, state, clock } = setUp();
    const readNext = async () => {
      clock.advance(CHAIN_LIMITS.breaker.tickMs);
      state.headSec = clock.now() / 1_000;
      await breaker.tick();
      return breaker.check().kind;
    };
    expect(await readNext()).toBe('clear');
    for (let i = 0; i < 2; i++) {
      state.away = true;
      expect(await readNext()).toBe('clear');
      state.away = false;
      expect(await readNext()).toBe('clear');
    }
    state.away = true;
    expect(await readNext()).toBe('clear');
    expect(await readNext()).toBe('stale');
    expect(await readNext()).toBe('stale');
    expect(breaker.price()).toMatchObject({ priceUsd: '3000' });
    state.away = false;
    expect(await readNext()).toBe('clear');
  });

  it('the circuit breaker keeps a reading for half a minute while no other one ends', async () => {
    const { breaker, clock } = setUp();
    await breaker.tick();
    clock.advance(CHAIN_LIMITS.breaker.readingMs);
    expect(breaker.check().kind).toBe('clear');
    clock.advance(1);
    expect(breaker.check()).toMatchObject({ kind: 'stale' });
  });

  it('the circuit breaker is stale at once when a feed cannot be read, and names the feed', async () => {
    const { breaker, state } = setUp();
    await breaker.tick();
    state.sequencer = undefined;
    await breaker.tick();
    const verdict = breaker.check();
    expect(verdict).toMatchObject({
      kind: 'stale',
      reasonText: expect.stringContaining('sequencer feed'),
    });
    expect(breaker.price()).toBeUndefined();
  });

  it('the circuit breaker is always stale where no node is configured', async () => {
    const { deps } = setUp();
    const breaker = createBreaker({ ...deps, rpc: undefined });
    await breaker.tick();
    expect(breaker.check()).toMatchObject({
      kind: 'stale',
      reasonText: expect.stringContaining('no chain node'),
    });
  });

  it('the circuit breaker is stale with a node of another chain', async () => {
    const { breaker, state } = setUp();
    state.chainId = 1;
    await breaker.tick();
    expect(breaker.check()).toMatchObject({
      kind: 'stale',
      reasonText: expect.stringContaining('another chain'),
    });
    state.chainId = CHAIN_ID;
    await breaker.tick();
    expect(breaker.check().kind).toBe('clear');
  });

  it('the circuit breaker notices between two readings that the server’s clock was moved', async () => {
    const { deps, state } = setUp();
    let movedMs = 0;
    const { clock } = deps;
    const moving = {
      now: () => clock.now() + movedMs,
      monotonicMs: () => clock.monotonicMs(),
      setTimeout: clock.setTimeout,
      clearTimeout: clock.clearTimeout,
    };
    const { rpc } = feedsChain(state.headSec);
    const breaker = createBreaker({ ...deps, rpc, clock: moving });
    await breaker.tick();
    expect(breaker.check().kind).toBe('clear');
    movedMs = -31_000;
    expect(breaker.check()).toMatchObject({ kind: 'active', reason: 6 });
  });

  it('concurrent ticks of the circuit breaker read the chain once', async () => {
    const { breaker, state } = setUp();
    await Promise.all([breaker.tick(), breaker.tick()]);
    expect(state.asked).toEqual(['0x82ad56cb', '0x9a6fc8f5']);
  });
});

describe('a price', () => {
  it('a feed’s price is formatted without rounding', () => {
    expect(formatPrice(312_055_000_000n, 8)).toBe('3120.55');
    expect(formatPrice(3n, 8)).toBe('0.00000003');
    expect(formatPrice(-150n, 2)).toBe('-1.5');
    expect(formatPrice(7n, 0)).toBe('7');
    expect(formatPrice(70n, 0)).toBe('70');
  });
});
