import { describe, expect, it } from 'vitest';
import { type Demand, refusalOf } from '../../../../src/ledger/rules/admit.ts';
import type { Rules } from '../../../../src/ledger/rules/rules.ts';
import { ACTIVE } from '../../../support/fakes/memory-ledger.ts';
import { FACTS, momentAt } from '../../../support/spending.ts';

const RULES: Rules = { ...ACTIVE, operatorExpirySec: 2_000, keyIds: new Set([4]) };
const DEMAND: Demand = {
  keyId: 4,
  amountRaw: 5n,
  spendableRaw: 5n,
  facts: FACTS,
  taskValueBps: null,
  counters: [],
};
const NOW = momentAt(1_999_999);

describe('refusalOf', () => {
  it('an active agent may spend its last raw unit until the second its delegation ends', () => {
    expect(refusalOf(RULES, DEMAND, NOW)).toBeUndefined();
    expect(refusalOf(RULES, DEMAND, momentAt(2_000_000))).toEqual({
      reason: 'delegation_expired',
    });
  });

  it('a revoked key is refused, and a spend without a key needs none', () => {
    expect(refusalOf(RULES, { ...DEMAND, keyId: 5 }, NOW)).toEqual({ reason: 'key_revoked' });
    expect(refusalOf(RULES, { ...DEMAND, keyId: undefined }, NOW)).toBeUndefined();
  });

  it.each([
    ['pending_delegation', 'agent_not_active'],
    ['suspended', 'agent_suspended'],
    ['closed', 'agent_closed'],
  ] as const)('a spend of an agent that is %s is refused', (status, reason) => {
    expect(refusalOf({ ...RULES, status }, DEMAND, NOW)).toEqual({ reason });
  });

  it('the refusal of a spend beyond the balance says the available and the required amount', () => {
    expect(refusalOf(RULES, { ...DEMAND, amountRaw: 6n }, NOW)).toEqual({
      reason: 'insufficient_balance',
      availableRaw: 5n,
      requiredRaw: 6n,
    });
  });

  it('a destination that the agent chose must be on its allowlists, and one that the operator chose need not', () => {
    const listed: Rules = { ...RULES, allowlistMode: 'both' };
    const facts = { ...FACTS, host: 'acme', payee: `0x${'aa'.repeat(20)}` };
    expect(refusalOf(listed, { ...DEMAND, facts }, NOW)).toMatchObject({
      reason: 'host_not_allowlisted',
    });
    expect(refusalOf(listed, { ...DEMAND, facts, isOperators: true }, NOW)).toBeUndefined();
  });
});
