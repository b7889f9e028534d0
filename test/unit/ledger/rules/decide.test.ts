import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { applyChange } from '../../../../src/ledger/rules/agent-batch.ts';
import type { BalanceState } from '../../../../src/ledger/rules/change.ts';
import { decide } from '../../../../src/ledger/rules/decide.ts';
import type { DecisionContext } from '../../../../src/ledger/rules/decision.ts';
import type { Operation } from '../../../../src/ledger/rules/operation.ts';
import { ACTIVE } from '../../../support/fakes/memory-ledger.ts';
import { DESTINATION, FACTS, momentAt } from '../../../support/spending.ts';

const WORLD: DecisionContext = {
  rules: ACTIVE,
  position: momentAt(1_000_000),
  openHolds: new Map(),
};

const state = (spendableRaw: bigint, heldRaw = 0n): BalanceState => ({
  version: 3n,
  rulesVersion: 0n,
  spendableRaw,
  heldRaw,
  creditedRaw: spendableRaw + heldRaw,
  consumedRaw: 0n,
  walletRaw: 0n,
  promisedRaw: 0n,
  counters: [],
});

const hold = (amountRaw: bigint, keyId = 1): Operation => ({
  kind: 'hold',
  agentId: 7,
  spender: { agentId: 7, keyId },
  holdId: 'h',
  amountRaw,
  destination: DESTINATION,
  session: null,
  reservation: null,
});

const settle = (heldRaw: bigint, actualRaw: bigint): Operation => ({
  kind: 'settle',
  agentId: 7,
  hold: { holdId: 'h', agentId: 7, amountRaw: heldRaw, facts: FACTS },
  request: { actualRaw, account: 'gateway', source: 'acme' },
  ends: null,
  move: null,
});

const amount = fc.bigInt({ min: 0n, max: 1_000n });

describe('decide', () => {
  it('decide takes a credit up to the most that a column holds, and refuses a credit beyond', () => {
    const most = 2n ** 63n - 1n;
    const credit = (amountRaw: bigint): Operation => ({
      kind: 'credit',
      agentId: 7,
      amountRaw,
      reference: 'r',
      events: [],
      deposit: false,
    });
    expect(decide(state(most - 5n), credit(5n), WORLD).kind).toBe('change');
    expect(decide(state(most - 5n), credit(6n), WORLD)).toMatchObject({
      kind: 'refused',
      refusal: { reason: 'balance_full' },
    });
  });

  it('decide keeps credits = spendable + held + consumed and both balances at or above zero', () => {
    fc.assert(
      fc.property(
        amount,
        fc.array(fc.record({ held: amount, actual: fc.bigInt({ min: 0n, max: 3_000n }) })),
        (start, works) => {
          let now = state(start);
          for (const { held, actual } of works) {
            const opened = decide(now, hold(held), WORLD);
            if (opened.kind === 'refused') {
              expect(held > now.spendableRaw).toBe(true);
              continue;
            }
            now = applyChange(now, opened.change, WORLD.position);
            const settled = decide(now, settle(held, actual), WORLD);
            now = applyChange(now, settled.change, WORLD.position);
            expect(now.heldRaw).toBe(0n);
            expect(now.spendableRaw).toBeGreaterThanOrEqual(0n);
            expect(now.creditedRaw).toBe(now.spendableRaw + now.heldRaw + now.consumedRaw);
          }
        },
      ),
    );
  });

  it('decide moves the guarded row exactly as the entries of the posting say', () => {
    fc.assert(
      fc.property(amount, amount, fc.bigInt({ min: 0n, max: 3_000n }), (spare, held, actual) => {
        const decision = decide(state(spare, held), settle(held, actual), WORLD);
        const moved = { spendable: 0n, held: 0n, gateway: 0n };
        for (const { debit, credit, amountRaw } of decision.change.posting?.entries ?? []) {
          expect(amountRaw).toBeGreaterThan(0n);
          if (debit === 'agent:7:spendable') moved.spendable -= amountRaw;
          if (debit === 'agent:7:held') moved.held -= amountRaw;
          if (credit === 'agent:7:spendable') moved.spendable += amountRaw;
          if (credit === 'gateway') moved.gateway += amountRaw;
        }
        expect(moved.spendable).toBe(decision.change.delta.spendableRaw);
        expect(moved.held).toBe(decision.change.delta.heldRaw);
        expect(moved.gateway).toBe(actual);
      }),
    );
  });

  it('decide settles no more than the hold, whatever the balance, and books the rest as a shortfall of the source', () => {
    const decision = decide(state(30n, 100n), settle(100n, 150n), WORLD);
    expect(decision).toMatchObject({ leftRaw: 100n, shortfallRaw: 50n });
    expect(decision.change.posting?.entries).toEqual([
      { debit: 'agent:7:held', credit: 'gateway', amountRaw: 100n },
      { debit: 'shortfall:acme', credit: 'gateway', amountRaw: 50n },
    ]);
  });

  it('decide settles no more than the billable amount, and gives back the rest of the hold', () => {
    const operation = settle(100n, 150n);
    if (operation.kind !== 'settle') throw new Error('unreachable');
    const request = { ...operation.request, billableRaw: 40n };
    const decision = decide(state(30n, 100n), { ...operation, request }, WORLD);
    expect(decision).toMatchObject({ leftRaw: 40n, shortfallRaw: 110n });
    expect(decision.change.posting?.entries).toEqual([
      { debit: 'agent:7:held', credit: 'gateway', amountRaw: 40n },
      { debit: 'shortfall:acme', credit: 'gateway', amountRaw: 110n },
      { debit: 'agent:7:held', credit: 'agent:7:spendable', amountRaw: 60n },
    ]);
  });

  it('decide releases the whole hold when nothing was bought', () => {
    const decision = decide(state(0n, 100n), settle(100n, 0n), WORLD);
    expect(decision.change.posting?.code).toBe('hold.release');
    expect(decision.change.delta).toMatchObject({ spendableRaw: 100n, heldRaw: -100n });
  });

  it('decide settles a hold that was extended before the settlement at the actual cost, and returns the rest', () => {
    const world = { ...WORLD, openHolds: new Map([['h', 150n]]) };
    const decision = decide(state(0n, 150n), settle(100n, 120n), world);
    expect(decision.change.hold).toMatchObject({ fromRaw: 150n, toRaw: null });
    expect(decision.change.delta).toMatchObject({ heldRaw: -150n, spendableRaw: 30n });
  });

  it('decide only looks up the posting of a refused hold', () => {
    const decision = decide(state(10n), hold(11n), WORLD);
    expect(decision).toMatchObject({
      kind: 'refused',
      refusal: { reason: 'insufficient_balance', availableRaw: 10n, requiredRaw: 11n },
    });
    expect(decision.change).toMatchObject({ probe: true, hold: null, companions: [] });
    expect(decision.change.delta.spendableRaw).toBe(0n);
  });

  it('decide passes the amount that was really charged to the charge row', () => {
    const seen: bigint[] = [];
    const operation = settle(100n, 150n);
    if (operation.kind !== 'settle') throw new Error('unreachable');
    const charge = (chargedRaw: bigint) => {
      seen.push(chargedRaw);
      throw new Error('no row in this test');
    };
    const request = { ...operation.request, charges: charge };
    expect(() => decide(state(30n, 100n), { ...operation, request }, WORLD)).toThrow('no row');
    expect(seen).toEqual([100n]);
  });
});
