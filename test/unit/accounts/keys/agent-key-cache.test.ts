import { describe, expect, it } from 'vitest';
import { createAgentKeyCache } from '../../../../src/accounts/keys/agent-key-cache.ts';
import type { KnownAgentKey } from '../../../../src/accounts/keys/agent-key-store.ts';
import { ACCOUNT_LIMITS } from '../../../../src/accounts/limits.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

/** A cache over a store that answers at once, and how often the store was asked. */
function cacheOver(keys: Record<string, Partial<KnownAgentKey>>) {
  const clock = new ManualClock();
  const asked: string[] = [];
  const known = (digest: string): KnownAgentKey | undefined =>
    keys[digest] && {
      keyId: 1,
      keyRootId: 1,
      agentId: 1,
      accountId: 'acct_000000000000',
      permissions: 'read_write',
      promptCaching: 'off',
      status: 'active',
      hasMoney: false,
      operatorExpiry: null,
      ...keys[digest],
    };
  const cache = createAgentKeyCache({
    clock,
    load: async (digest) => {
      asked.push(digest);
      return known(digest);
    },
  });
  return { clock, cache, asked };
}

const KEYS = {
  a: { keyId: 1, agentId: 1 },
  b: { keyId: 2, agentId: 1 },
  c: { keyId: 3, agentId: 2 },
};

describe('the agent key cache', () => {
  it('the agent key cache reads a used key from the store once, and returns the key synchronously from then on', async () => {
    const { cache, asked } = cacheOver(KEYS);
    await cache.find('a');
    expect(cache.find('a')).toMatchObject({ keyId: 1 });
    expect(asked).toEqual(['a']);
  });

  it('the agent key cache does not store unknown keys', async () => {
    const { cache, asked } = cacheOver({});
    expect(await cache.find('x')).toBeUndefined();
    expect(await cache.find('x')).toBeUndefined();
    expect(asked).toEqual(['x', 'x']);
    expect(cache.size()).toBe(0);
  });

  it('the agent key cache forgets a revoked key, all keys of a changed agent, or all keys, as the notice says', async () => {
    for (const { notice, left } of [
      { notice: { kind: 'agent_key_revoked', agentId: 1, keyId: 1 }, left: 2 },
      { notice: { kind: 'agent_changed', agentId: 1 }, left: 1 },
      { notice: { kind: 'developer_key_revoked', keyId: 1 }, left: 3 },
      { notice: { kind: 'everything' }, left: 0 },
    ] as const) {
      const { cache } = cacheOver(KEYS);
      for (const digest of Object.keys(KEYS)) await cache.find(digest);
      cache.forget(notice);
      expect(cache.size(), notice.kind).toBe(left);
    }
  });

  it('the agent key cache does not keep a key whose read began before a notice and ended after it', async () => {
    const { cache } = cacheOver(KEYS);
    const reading = cache.find('a');
    cache.forget({ kind: 'agent_key_revoked', agentId: 1, keyId: 1 });
    await reading;
    expect(cache.size()).toBe(0);
  });

  it('the agent key cache drops a key after its maximum age, even without a notice', async () => {
    const { cache, asked, clock } = cacheOver(KEYS);
    await cache.find('a');
    clock.advance(ACCOUNT_LIMITS.key.cacheMs);
    await cache.find('a');
    expect(asked).toEqual(['a', 'a']);
  });

  it('the agent key cache never exceeds its bound, and drops the least recently used key first', async () => {
    const many: Record<string, Partial<KnownAgentKey>> = {};
    for (let i = 0; i <= ACCOUNT_LIMITS.key.cached; i++) many[`k${i}`] = { keyId: i };
    const { cache, asked } = cacheOver(many);
    for (let i = 0; i < ACCOUNT_LIMITS.key.cached; i++) await cache.find(`k${i}`);
    await cache.find('k0');
    await cache.find(`k${ACCOUNT_LIMITS.key.cached}`);
    expect(cache.size()).toBe(ACCOUNT_LIMITS.key.cached);
    asked.length = 0;
    await cache.find('k0');
    await cache.find('k1');
    expect(asked).toEqual(['k1']);
  });
});
