import { describe, expect, it } from 'vitest';
import { ACCOUNT_LIMITS } from '../../../../src/accounts/limits.ts';
import { createRememberedKeys } from '../../../../src/accounts/provider-keys/remembered-keys.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const PLACE = 'acct_a';

/** What every account has, how often it was read, and a store that may be away. */
function memory() {
  const clock = new ManualClock();
  const state = { key: 'first' as string | undefined, reads: 0, isAway: false };
  const keys = createRememberedKeys({
    clock,
    load: async () => {
      state.reads++;
      if (state.isAway) throw new Error('the database is away');
      return state.key;
    },
  });
  return { clock, state, keys };
}

describe('remembered provider keys', () => {
  it('provider keys are read once for many requests together or soon after, also when there is no key', async () => {
    for (const key of ['first', undefined]) {
      const { keys, state, clock } = memory();
      state.key = key;
      const found = await Promise.all([keys.find(PLACE), keys.find(PLACE)]);
      clock.advance(ACCOUNT_LIMITS.providerKey.cacheMs - 1);
      expect([...found, await keys.find(PLACE)]).toEqual([key, key, key]);
      expect(state.reads).toBe(1);
    }
  });

  it('cached provider keys expire after their time, and reading them does not prolong it', async () => {
    const { keys, state, clock } = memory();
    await keys.find(PLACE);
    clock.advance(ACCOUNT_LIMITS.providerKey.cacheMs / 2);
    await keys.find(PLACE);
    state.key = 'second';
    clock.advance(ACCOUNT_LIMITS.providerKey.cacheMs / 2);
    expect(await keys.find(PLACE)).toBe('second');
    expect(ACCOUNT_LIMITS.providerKey.cacheMs).toBeLessThanOrEqual(5_000);
  });

  it('expired provider keys leave the cache, also when another account’s keys are read', async () => {
    const { keys, clock } = memory();
    await keys.find(PLACE);
    clock.advance(ACCOUNT_LIMITS.providerKey.cacheMs);
    await keys.find('acct_b');
    expect(keys.size()).toBe(1);
  });

  it('cached provider keys are dropped by account, and so is a read that is in progress', async () => {
    const { keys, state } = memory();
    const other = 'acct_b';
    await keys.find(other);
    const reading = keys.find(PLACE);
    keys.forget(PLACE);
    state.key = 'second';
    expect(await reading).toBe('first');
    expect(await keys.find(PLACE)).toBe('second');
    expect(await keys.find(other)).toBe('first');
  });

  it('the cache of provider keys does not keep a failed read', async () => {
    const { keys, state } = memory();
    state.isAway = true;
    await expect(keys.find(PLACE)).rejects.toThrow('away');
    state.isAway = false;
    expect(await keys.find(PLACE)).toBe('first');
  });

  it('the cache of provider keys never exceeds its bound and drops the oldest entry first', async () => {
    const { keys, state } = memory();
    const place = (n: number) => `acct_${n}`;
    for (let n = 0; n <= ACCOUNT_LIMITS.providerKey.cached; n++) await keys.find(place(n));
    expect(keys.size()).toBe(ACCOUNT_LIMITS.providerKey.cached);
    const { reads } = state;
    await keys.find(place(1));
    expect(state.reads).toBe(reads);
    await keys.find(place(0));
    expect(state.reads).toBe(reads + 1);
  });
});
