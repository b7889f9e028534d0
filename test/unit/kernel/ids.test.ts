import { describe, expect, it } from 'vitest';
import { keyedHash, sameSecret } from '../../../src/accounts/keys/keyed-hash.ts';
import {
  agentKeyPrefix,
  developerKeyPrefix,
  newAccountId,
  newAgentKey,
  newDeveloperKey,
  uuidOf,
} from '../../../src/kernel/ids.ts';
import { randomBase62, systemRandom } from '../../../src/kernel/random.ts';

describe('ids', () => {
  it('new keys and account ids have the documented form', () => {
    expect(newDeveloperKey(systemRandom)).toMatch(/^svc_live_[0-9A-Za-z]{40}$/);
    expect(newAgentKey(systemRandom)).toMatch(/^svc_[0-9a-f]{64}$/);
    expect(newAccountId(systemRandom)).toMatch(/^acct_[0-9a-f]{12}$/);
  });

  it('the shown prefix of a key is no longer than documented', () => {
    expect(agentKeyPrefix('svc_a1b2c3d4e5')).toBe('svc_a1b2...');
    expect(developerKeyPrefix('svc_live_cd34xyz')).toBe('svc_live_cd34...');
  });

  it('a name always gives the same UUID, and another name gives another UUID', () => {
    expect(uuidOf('a')).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(new Set(['a', 'b', 'a'].map(uuidOf)).size).toBe(2);
  });

  it('random ids throw away bytes above 247, so that every letter of base 62 is equally likely', () => {
    const bytes = [255, 248, 61, 0];
    const random = { bytes: () => Uint8Array.from(bytes) };
    expect(randomBase62(random, 2)).toBe('z0');
  });
});

describe('keyed hash', () => {
  it('the keyed hash depends on the secret and on the text', () => {
    expect(keyedHash('s', 'a')).not.toBe(keyedHash('t', 'a'));
    expect(keyedHash('s', 'a')).toMatch(/^[0-9a-f]{64}$/);
  });

  it('the comparison of secrets accepts any length', () => {
    expect(sameSecret('abc', 'abc')).toBe(true);
    expect(sameSecret('abc', 'abcd')).toBe(false);
    expect(sameSecret('', 'a')).toBe(false);
  });
});
