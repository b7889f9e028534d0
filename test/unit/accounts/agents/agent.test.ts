import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type Agent,
  type AgentStatus,
  isDelegationActive,
  planStatus,
  retryDelayMs,
} from '../../../../src/accounts/agents/agent.ts';
import { agentRecord, balanceRecord } from '../../../../src/accounts/agents/agent-record.ts';

const STATUSES: readonly AgentStatus[] = ['pending_delegation', 'active', 'suspended', 'closed'];

const agent = (change: Partial<Agent> = {}): Agent => ({
  id: 42,
  accountId: 'acct_9f1c20b7d4e1',
  name: 'caller',
  status: 'active',
  suspendedReason: null,
  mode: 'managed',
  fundingMode: 'wallet',
  walletAddress: `0x${'ab'.repeat(20)}`,
  borrowLimitRaw: null,
  maxRateBps: 1_000,
  expirySeconds: 60,
  operatorExpiry: 1_790_000_000,
  delegationTxHash: null,
  selfServiceLocked: false,
  session: null,
  createdAt: new Date(0),
  updatedAt: new Date(0),
  closedAt: null,
  provisionAttempts: 0,
  provisionNextAt: null,
  ...change,
});

describe('planStatus', () => {
  it('planStatus moves an agent between active and suspended only, and never out of another status', () => {
    for (const from of STATUSES) {
      for (const to of ['active', 'suspended'] as const) {
        const { kind } = planStatus(from, to, 'developer_manual');
        const open = from === 'active' || from === 'suspended';
        expect(kind, `${from} to ${to}`).toBe(
          from === to ? 'unchanged' : open ? 'change' : 'impossible',
        );
      }
    }
  });

  it('planStatus keeps a reason while an agent is suspended and clears the reason on resume', () => {
    expect(planStatus('active', 'suspended', 'policy:12')).toEqual({
      kind: 'change',
      suspendedReason: 'policy:12',
    });
    expect(planStatus('suspended', 'active', 'policy:12')).toEqual({
      kind: 'change',
      suspendedReason: null,
    });
  });
});

describe('isDelegationActive', () => {
  it('a delegation ends exactly at its expiry, and with its agent', () => {
    const expiry = 1_790_000_000;
    const borrower = agent({ fundingMode: 'credit_line' });
    expect(isDelegationActive(borrower, expiry - 1)).toBe(true);
    expect(isDelegationActive(borrower, expiry)).toBe(false);
    // A prepaid agent borrows nothing, so that nothing of it can expire.
    expect(isDelegationActive(agent(), expiry)).toBe(true);
    expect(isDelegationActive(agent({ status: 'suspended' }), 0)).toBe(true);
    expect(isDelegationActive(agent({ status: 'closed' }), 0)).toBe(false);
    expect(isDelegationActive(agent({ operatorExpiry: null }), 0)).toBe(false);
  });
});

describe('retryDelayMs', () => {
  it('retryDelayMs never shrinks with more attempts and stays within its first and longest delay', () => {
    const bounds = { first: 5_000, max: 600_000 };
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1_000_000 }), (attempts) => {
        const now = retryDelayMs(attempts, bounds);
        expect(retryDelayMs(attempts + 1, bounds)).toBeGreaterThanOrEqual(now);
        expect(now).toBeLessThanOrEqual(bounds.max);
        expect(now).toBeGreaterThanOrEqual(bounds.first);
      }),
    );
    expect(retryDelayMs(1_000_000, bounds)).toBe(bounds.max);
  });
});

describe('the records', () => {
  it('the record of a pending agent has the provisioning step and next attempt, and the record of an active agent has neither', () => {
    const provisionNextAt = new Date(1_790_000_000_000);
    const waiting = {
      status: 'pending_delegation',
      provisionAttempts: 21,
      provisionNextAt,
    } as const;
    expect(agentRecord(agent({ ...waiting, walletAddress: null }), 0).provisioning).toEqual({
      step: 'managed_wallet',
      attempts: 21,
      nextAttemptAt: '2026-09-21T14:13:20.000Z',
    });
    expect(agentRecord(agent(waiting), 0).provisioning).toMatchObject({ step: 'delegation' });
    expect(agentRecord(agent({ provisionAttempts: 21 }), 0).provisioning).toBeNull();
  });

  it('an agent record has the expiry as text, and a balance record has the expiry as a number', () => {
    const funds = { availableRaw: 3_000_000n, reservedRaw: 5n, pendingRaw: 7n };
    expect(agentRecord(agent(), 0).operatorExpiry).toBe('1790000000');
    expect(balanceRecord(agent(), funds, null, 0).operatorExpiry).toBe(1_790_000_000);
  });

  it('agent and balance records have only digit strings for amounts, so that every client can read them as integers', () => {
    const amounts = [
      'balance',
      'spendableRaw',
      'creditAvailableRaw',
      'creditAvailable',
      'creditLimit',
      'creditUsed',
      'pendingSettlementsRaw',
      'pendingSettlements',
      'heldUnspentRaw',
    ] as const;
    fc.assert(
      fc.property(
        fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }),
        fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }),
        fc.option(fc.bigInt({ min: 1n, max: 2n ** 63n - 1n })),
        (availableRaw, pendingRaw, borrowLimitRaw) => {
          const funds = { availableRaw, reservedRaw: 3n, pendingRaw };
          const record = balanceRecord(agent({ borrowLimitRaw }), funds, null, 0);
          for (const name of amounts) expect(record[name]).toMatch(/^\d+$/);
          expect(BigInt(record.creditUsed)).toBe(
            BigInt(record.creditLimit) - BigInt(record.creditAvailableRaw),
          );
          expect(record.balance).toBe(record.spendableRaw);
          expect(record.pendingSettlementsRaw).toBe(`${pendingRaw}`);
          expect(record.heldUnspentRaw).toBe('3');
        },
      ),
    );
  });
});
