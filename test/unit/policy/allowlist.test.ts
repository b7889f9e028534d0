import { describe, expect, it } from 'vitest';
import { refusalOfDestination } from '../../../src/policy/allowlist.ts';
import { policyOf } from '../../support/spending.ts';

const entries = [
  policyOf({ id: 1, kind: 'api', matchKey: 'acme.example', matchKind: 'host_suffix' }),
  policyOf({ id: 2, agentId: null, kind: 'vendor', matchKey: '0xabc' }),
  policyOf({ id: 3, kind: 'api', matchKey: 'late.example', effectiveUntilSec: 100 }),
];
const known = { host: 'api.acme.example', payee: '0xabc' };
const refusal = (mode: Parameters<typeof refusalOfDestination>[0], to: typeof known, nowSec = 50) =>
  refusalOfDestination(mode, entries, to, nowSec);

describe('an allowlist', () => {
  it('an allowlist that is off lets every destination through', () => {
    expect(refusalOfDestination('off', [], known, 0)).toBeUndefined();
  });

  it.each(['host', 'vendor', 'both'] as const)(
    'an allowlist in mode %s lets its entries through',
    (mode) => {
      expect(refusal(mode, known)).toBeUndefined();
    },
  );

  it('an allowlist of hosts refuses a host without an entry, before the payee', () => {
    const stranger = { host: 'evil.example', payee: '0xdead' };
    const host = { reason: 'host_not_allowlisted', host: 'evil.example' };
    expect(refusal('host', stranger)).toEqual(host);
    expect(refusal('both', stranger)).toEqual(host);
    expect(refusal('vendor', { ...known, host: 'evil.example' })).toBeUndefined();
  });

  it('an allowlist of vendors refuses a payee without an entry once the payee is known', () => {
    const stranger = { ...known, payee: '0xdead' };
    const vendor = { reason: 'vendor_not_allowlisted', recipient: '0xdead', host: known.host };
    expect(refusal('vendor', stranger)).toEqual(vendor);
    expect(refusal('both', stranger)).toEqual(vendor);
    expect(refusal('host', stranger)).toBeUndefined();
    expect(refusalOfDestination('both', entries, { ...known, payee: null }, 50)).toBeUndefined();
  });

  it('an allowlist without entries refuses everything, and an expired entry no longer counts', () => {
    expect(refusalOfDestination('host', [], known, 0)?.reason).toBe('host_not_allowlisted');
    const late = { host: 'late.example', payee: '0xabc' };
    expect(refusal('host', late, 99)).toBeUndefined();
    expect(refusal('host', late, 100)?.reason).toBe('host_not_allowlisted');
  });
});
