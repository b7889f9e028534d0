import { describe, expect, it } from 'vitest';
import type { Agent } from '../../../../src/accounts/agents/agent.ts';
import { readAt, spendStateOf } from '../../../../src/ledger/rules/spend-state.ts';
import type { Policy } from '../../../../src/policy/policy.ts';
import { creditRemaining, loanState } from '../../../../src/spend/awareness/credit-awareness.ts';
import { ACTIVE } from '../../../support/fakes/memory-ledger.ts';
import { counterOf, NOW_MS } from '../../../support/snapshot-arbitrary.ts';
import { policyOf } from '../../../support/spending.ts';

const AGENT: Agent = {
  id: 7,
  accountId: 'acct_1',
  name: 'a',
  status: 'active',
  suspendedReason: null,
  mode: 'managed',
  fundingMode: 'wallet',
  walletAddress: '0x01',
  borrowLimitRaw: null,
  maxRateBps: 1,
  expirySeconds: 60,
  operatorExpiry: null,
  delegationTxHash: null,
  provisionAttempts: 0,
  provisionNextAt: null,
  createdAt: new Date(0),
  updatedAt: new Date(0),
  closedAt: null,
  selfServiceLocked: false,
  session: null,
};
const LINE: Agent = { ...AGENT, fundingMode: 'credit_line', borrowLimitRaw: 300n };

/** 1000 came in; 250 are spent and 50 in flight, all of it counted under every policy. */
function spendState(policies: readonly Policy[] = [], spendableRaw = 700n) {
  const counters = policies.map((policy) =>
    counterOf(policy, [{ agoMs: 0, heldRaw: 50n, settledRaw: 250n }]),
  );
  const state = {
    version: 1n,
    rulesVersion: 1n,
    spendableRaw,
    heldRaw: 50n,
    consumedRaw: 250n,
    walletRaw: 0n,
    promisedRaw: 0n,
    creditedRaw: spendableRaw + 300n,
    counters,
  };
  return spendStateOf(readAt({ state, rules: { ...ACTIVE, policies } }, NOW_MS));
}

describe('what is left of the credit', () => {
  it('an agent’s remaining credit is in decimal digits, with null only for a missing session limit', () => {
    expect(creditRemaining(AGENT, spendState())).toEqual({
      available: '700',
      creditIn: '1000',
      creditOut: '300',
      creditLimit: '0',
      headroomToAutoBorrow: '700',
      utilizationBps: 3_000,
      sessionSpendLimit: null,
      sessionSpent: '0',
      sessionSpendRemaining: null,
      asOf: '2026-11-21T12:03:04.567Z',
    });
  });

  it('an agent’s remaining credit shows its session limit and no other cap', () => {
    const session = policyOf({ id: 2, limitRaw: 400n });
    expect(creditRemaining(AGENT, spendState([session]))).toMatchObject({
      sessionSpendLimit: '400',
      sessionSpent: '300',
      sessionSpendRemaining: '100',
    });
    const others = [policyOf({ id: 3, kind: 'task', matchKey: 't' })];
    expect(creditRemaining(AGENT, spendState(others))).toMatchObject({ sessionSpendLimit: null });
  });

  it('an agent’s remaining credit leaves out money that is reserved for tasks', () => {
    const kept = policyOf({ id: 4, kind: 'task', matchKey: 't', limitRaw: 500n, reserves: true });
    expect(creditRemaining(AGENT, spendState([kept]))).toMatchObject({
      available: '500',
      headroomToAutoBorrow: '500',
      creditIn: '1000',
      creditOut: '300',
    });
  });

  it('the remaining credit of an agent without funding is zero, never null', () => {
    const state = {
      version: 0n,
      rulesVersion: 0n,
      spendableRaw: 0n,
      heldRaw: 0n,
      consumedRaw: 0n,
      walletRaw: 0n,
      promisedRaw: 0n,
      creditedRaw: 0n,
      counters: [],
    };
    const empty = spendStateOf(readAt({ state, rules: ACTIVE }, NOW_MS));
    expect(creditRemaining(AGENT, empty)).toMatchObject({
      available: '0',
      creditIn: '0',
      creditOut: '0',
      utilizationBps: 0,
      headroomToAutoBorrow: '0',
    });
  });
});

describe('the state of the loans', () => {
  it('the loan state of a prepaid agent is idle, even when its balance is spent', () => {
    expect(loanState(AGENT, spendState())).toEqual({
      state: 'idle',
      reason: 'no_active_loans',
      details: { available: '700', creditLimit: '0' },
    });
    expect(loanState(AGENT, spendState([], 0n))).toMatchObject({ state: 'idle' });
  });

  it('the loan state of an agent with a credit line is at_limit when nothing is available and the line is spent', () => {
    expect(loanState(LINE, spendState([], 0n))).toEqual({
      state: 'at_limit',
      reason: 'credit_exhausted',
      details: { available: '0', creditLimit: '300' },
    });
    expect(loanState(LINE, spendState())).toMatchObject({ state: 'idle' });
    const longer = { ...LINE, borrowLimitRaw: 301n };
    expect(loanState(longer, spendState([], 0n))).toMatchObject({ state: 'idle' });
  });
});
