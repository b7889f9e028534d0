import { describe, expect, it } from 'vitest';
import { matches } from '../../../src/policy/match.ts';
import { isEffective } from '../../../src/policy/policy.ts';
import { FACTS, policyOf } from '../../support/spending.ts';

const facts = { keyRootId: 4, taskId: 'plan', host: 'api.acme.example', payee: '0xabc' };

describe('a policy counts a spending', () => {
  it.each([
    ['of anything, as a session', { kind: 'session', matchKey: null }, true],
    ['of its task', { kind: 'task', matchKey: 'plan' }, true],
    ['of no other task', { kind: 'task', matchKey: 'pla' }, false],
    ['of its key', { kind: 'key', matchKey: '4' }, true],
    ['of no other key', { kind: 'key', matchKey: '44' }, false],
    ['to its vendor', { kind: 'vendor', matchKey: '0xabc' }, true],
    ['to no other vendor', { kind: 'vendor', matchKey: '0xabcd' }, false],
    ['to its host', { kind: 'api', matchKey: 'api.acme.example', matchKind: 'host_exact' }, true],
    [
      'to the host alone where it is exact',
      { kind: 'api', matchKey: 'acme.example', matchKind: 'host_exact' },
      false,
    ],
    ['below its domain', { kind: 'api', matchKey: 'acme.example', matchKind: 'host_suffix' }, true],
    [
      'below its domain with a dot',
      { kind: 'api', matchKey: '.acme.example', matchKind: 'host_suffix' },
      true,
    ],
    [
      'at the domain itself',
      { kind: 'api', matchKey: '.api.acme.example', matchKind: 'host_suffix' },
      true,
    ],
    [
      'not beside its domain',
      { kind: 'api', matchKey: 'cme.example', matchKind: 'host_suffix' },
      false,
    ],
  ] as const)('a policy counts the spending %s', (_, change, counts) => {
    expect(matches(policyOf(change), facts)).toBe(counts);
  });

  it.each(['task', 'key', 'vendor', 'api'] as const)(
    'a policy counts no spending whose %s is not known',
    (kind) => {
      expect(matches(policyOf({ kind, matchKey: 'null' }), FACTS)).toBe(false);
    },
  );
});

describe('a policy refuses', () => {
  it('a policy is in effect from its first second to its end or expiry', () => {
    const policy = policyOf({ effectiveFromSec: 10, effectiveUntilSec: 20, expiresAtSec: 15 });
    expect([9, 10, 14, 15, 20].map((now) => isEffective(policy, now))).toEqual([
      false,
      true,
      true,
      false,
      false,
    ]);
    expect(isEffective({ ...policy, expiresAtSec: null }, 20)).toBe(false);
    expect(isEffective(policyOf(), 0)).toBe(true);
  });
});
