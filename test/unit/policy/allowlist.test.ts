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
  it('lets everything through while it is off', () => {
    expect(refusalOfDestination('off', [], known, 0)).toBeUndefined();
  });

  it.each(['host', 'vendor', 'both'] as const)('lets its entries through in mode %s', (mode) => {
    expect(refusal(mode, known)).toBeUndefined();
  });

  it('refuses a host without an entry in its dimension alone, before the payee', () => {
    const stranger = { host: 'evil.example', payee: '0xdead' };
    const host = { reason: 'host_not_allowlisted', host: 'evil.example' };
    expect(refusal('host', stranger)).toEqual(host);
    expect(refusal('both', stranger)).toEqual(host);
    expect(refusal('vendor', { ...known, host: 'evil.example' })).toBeUndefined();
  });

  it('refuses a payee without an entry once it is known', () => {
    const stranger = { ...known, payee: '0xdead' };
    const vendor = { reason: 'vendor_not_allowlisted', recipient: '0xdead', host: known.host };
    expect(refusal('vendor', stranger)).toEqual(vendor);
    expect(refusal('both', stranger)).toEqual(vendor);
    expect(refusal('host', stranger)).toBeUndefined();
    expect(refusalOfDestination('both', entries, { ...known, payee: null }, 50)).toBeUndefined();
  });

  it('refuses everything without an entry, and where the entry is over', () => {
    expect(refusalOfDestination('host', [], known, 0)?.reason).toBe('host_not_allowlisted');
    const late = { host: 'late.example', payee: '0xabc' };
    expect(refusal('host', late, 99)).toBeUndefined();
    expect(refusal('host', late, 100)?.reason).toBe('host_not_allowlisted');
  });
});
