import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type Agent,
  type AgentStatus,
  isDelegationActive,
  planStatus,
  retryDelayMs,
} from '../../../src/agents/agent.ts';
import { agentRecord, balanceRecord } from '../../../src/agents/agent-record.ts';

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
  ...change,
});

describe('planStatus', () => {
  it('moves between active and suspended only, and never leaves another status', () => {
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

  it('keeps a reason while suspended and clears it at once when resumed', () => {
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
  it('ends exactly at its expiry, and with the agent', () => {
    const expiry = 1_790_000_000;
    expect(isDelegationActive(agent(), expiry - 1)).toBe(true);
    expect(isDelegationActive(agent(), expiry)).toBe(false);
    expect(isDelegationActive(agent({ status: 'suspended' }), 0)).toBe(true);
    expect(isDelegationActive(agent({ status: 'closed' }), 0)).toBe(false);
    expect(isDelegationActive(agent({ operatorExpiry: null }), 0)).toBe(false);
  });
});

describe('retryDelayMs', () => {
  it('waits longer each time, never beyond its bound, and gives up in the end', () => {
    const bounds = { first: 5_000, max: 600_000, attempts: 20 };
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 18 }), (attempts) => {
        const now = retryDelayMs(attempts, bounds) ?? 0;
        const next = retryDelayMs(attempts + 1, bounds) ?? 0;
        expect(next).toBeGreaterThanOrEqual(now);
        expect(next).toBeLessThanOrEqual(bounds.max);
        expect(now).toBeGreaterThanOrEqual(bounds.first);
      }),
    );
    expect(retryDelayMs(20, bounds)).toBeNull();
  });
});

describe('the records', () => {
  it('carry the expiry as text in the agent and as a number in the balance', () => {
    const funds = { availableRaw: 3_000_000n, reservedRaw: 5n, pendingRaw: 7n };
    expect(agentRecord(agent(), 0).operatorExpiry).toBe('1790000000');
    expect(balanceRecord(agent(), funds, null, 0).operatorExpiry).toBe(1_790_000_000);
  });

  it('have only digit strings for amounts, so that every client can read them as integers', () => {
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
