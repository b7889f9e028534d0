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
  it('lets an active agent spend its last raw unit until the second its delegation ends', () => {
    expect(refusalOf(RULES, DEMAND, NOW)).toBeUndefined();
    expect(refusalOf(RULES, DEMAND, momentAt(2_000_000))).toEqual({
      reason: 'delegation_expired',
    });
  });

  it('refuses a key that is revoked and asks for none where none is named', () => {
    expect(refusalOf(RULES, { ...DEMAND, keyId: 5 }, NOW)).toEqual({ reason: 'key_revoked' });
    expect(refusalOf(RULES, { ...DEMAND, keyId: undefined }, NOW)).toBeUndefined();
  });

  it.each([
    ['pending_delegation', 'agent_not_active'],
    ['suspended', 'agent_suspended'],
    ['closed', 'agent_closed'],
  ] as const)('refuses an agent that is %s', (status, reason) => {
    expect(refusalOf({ ...RULES, status }, DEMAND, NOW)).toEqual({ reason });
  });

  it('says what there is and what it takes', () => {
    expect(refusalOf(RULES, { ...DEMAND, amountRaw: 6n }, NOW)).toEqual({
      reason: 'insufficient_balance',
      availableRaw: 5n,
      requiredRaw: 6n,
    });
  });

  it('holds what the agent chose against its lists, and not what the operator chose', () => {
    const listed: Rules = { ...RULES, allowlistMode: 'both' };
    const facts = { ...FACTS, host: 'acme', payee: `0x${'aa'.repeat(20)}` };
    expect(refusalOf(listed, { ...DEMAND, facts }, NOW)).toMatchObject({
      reason: 'host_not_allowlisted',
    });
    expect(refusalOf(listed, { ...DEMAND, facts, isOperators: true }, NOW)).toBeUndefined();
  });
});
