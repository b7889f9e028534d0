import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { applyChange } from '../../../../src/ledger/rules/agent-batch.ts';
import type { BalanceState, Change } from '../../../../src/ledger/rules/change.ts';
import { decide } from '../../../../src/ledger/rules/decide.ts';
import { moveGuard, walletFreeRaw } from '../../../../src/ledger/rules/decide-payment.ts';
import type { DecisionContext } from '../../../../src/ledger/rules/decision.ts';
import type { Operation } from '../../../../src/ledger/rules/operation.ts';
import { emptyCounter } from '../../../../src/policy/counter.ts';
import { ACTIVE } from '../../../support/fakes/memory-ledger.ts';
import {
  AGENT,
  correct,
  deposit,
  end,
  pay,
  sweep,
  withdraw,
} from '../../../support/payment-operations.ts';
import { moveOf, nonceOf, payoutOf, reservationOf } from '../../../support/payments.ts';
import { momentAt, policyOf } from '../../../support/spending.ts';

const WORLD: DecisionContext = {
  rules: ACTIVE,
  position: momentAt(1_000_000),
  openHolds: new Map(),
};

type Money = Partial<
  Pick<BalanceState, 'spendableRaw' | 'heldRaw' | 'consumedRaw' | 'walletRaw' | 'promisedRaw'>
>;

function state(money: Money): BalanceState {
  const { spendableRaw = 0n, heldRaw = 0n, consumedRaw = 0n } = money;
  const { walletRaw = 0n, promisedRaw = 0n } = money;
  return {
    version: 3n,
    rulesVersion: 0n,
    spendableRaw,
    heldRaw,
    consumedRaw,
    creditedRaw: spendableRaw + heldRaw + consumedRaw,
    walletRaw,
    promisedRaw,
    counters: [],
  };
}

const rowsOf = ({ companions }: Change) => companions.map(({ row }) => row);
describe('a hold for a payment', () => {
  it.each([
    ['what is spendable', state({ spendableRaw: 40n, walletRaw: 100n }), 40n],
    ['what the wallet holds', state({ spendableRaw: 100n, walletRaw: 30n }), 30n],
    [
      'what the wallet holds and has not promised',
      state({ spendableRaw: 100n, heldRaw: 30n, walletRaw: 90n, promisedRaw: 65n }),
      25n,
    ],
    [
      'nothing, where more is promised than came in',
      state({ spendableRaw: 9n, promisedRaw: 4n }),
      0n,
    ],
    [
      'nothing, where more left the wallet than came in',
      state({ spendableRaw: 9n, walletRaw: -4n }),
      0n,
    ],
  ])('a hold for a payment may take %s, to the raw unit', (_, before, availableRaw) => {
    expect(decide(before, pay(availableRaw + 1n), WORLD)).toMatchObject({
      kind: 'refused',
      refusal: { reason: 'insufficient_balance', availableRaw, requiredRaw: availableRaw + 1n },
      change: { probe: true, hold: null, companions: [] },
    });
    if (availableRaw > 0n) expect(decide(before, pay(availableRaw), WORLD).kind).toBe('change');
  });

  it('a hold for a payment leaves the funds reserved for other tasks, and the reserving task may take its own', () => {
    const policy = policyOf({
      agentId: AGENT,
      kind: 'task',
      matchKey: 'kept',
      limitRaw: 30n,
      reserves: true,
    });
    const rules = { ...ACTIVE, policies: [policy] };
    const world = { ...WORLD, rules, position: momentAt(1_000_000, rules) };
    const before = {
      ...state({ spendableRaw: 50n, walletRaw: 45n }),
      counters: [emptyCounter(policy.id, 1)],
    };
    expect(decide(before, pay(21n), world)).toMatchObject({ refusal: { availableRaw: 20n } });
    expect(decide(before, pay(20n), world).kind).toBe('change');
    // For the task itself the wallet is the narrower one.
    expect(decide({ ...before, walletRaw: 25n }, pay(26n, 'h', 'kept'), world)).toMatchObject({
      refusal: { availableRaw: 25n },
    });
  });

  it('a hold without a signed payment is bounded by the spendable balance alone', () => {
    const operation = { ...pay(9n), reservation: null };
    const decision = decide(state({ spendableRaw: 9n }), operation, WORLD);
    expect(decision).toMatchObject({ kind: 'change', change: { delta: { promisedRaw: 0n } } });
    expect(rowsOf(decision.change)).toEqual([]);
  });

  it('a hold for a payment counts its amount as promised as soon as its row is written', () => {
    const { change } = decide(state({ spendableRaw: 9n, walletRaw: 9n }), pay(5n), WORLD);
    expect(change.delta).toMatchObject({ spendableRaw: -5n, heldRaw: 5n, promisedRaw: 5n });
    expect(change.delta.walletRaw).toBe(0n);
    expect(change.companions).toEqual([
      {
        row: 'reservation.opened',
        reservation: reservationOf('h'),
        holdId: 'h',
        spender: { agentId: AGENT, keyId: 1 },
        valueRaw: 5n,
      },
    ]);
  });
});

describe('the steps of a payment', () => {
  it('the steps of a payment before its decision move only its row, and only from their starting states', () => {
    const move = moveOf('h', 'reserved', 'sent');
    const { change } = decide(
      state({}),
      { kind: 'advance', agentId: AGENT, holdId: 'h', move },
      WORLD,
    );
    expect(change).toMatchObject({ posting: null, hold: null, count: null });
    expect(Object.values(change.delta).every((raw) => raw === 0n)).toBe(true);
    // It has no posting: where it leads says that it was done.
    expect(change.guard).toEqual({ ...moveGuard(move), doneAt: 'sent' });
    expect(moveGuard(move)).toMatchObject({ id: nonceOf('h'), state: 'reserved', doneAt: null });
    expect(change.companions).toEqual([
      { row: 'reservation.moved', move, decided: false, corrected: false },
    ]);
  });

  it('the end of a used payment takes all of its hold out of the wallet', () => {
    const before = state({ heldRaw: 5n, walletRaw: 8n, promisedRaw: 5n });
    const { change } = decide(before, end(5n, 'settled'), WORLD);
    expect(change.delta).toMatchObject({ spendableRaw: 0n, heldRaw: -5n, consumedRaw: 5n });
    expect(change.delta).toMatchObject({ walletRaw: -5n, promisedRaw: -5n });
    expect(change.posting).toMatchObject({
      id: 'resolve:h',
      code: 'hold.settle',
      entries: [{ debit: 'agent:7:held', credit: 'chain:usdc', amountRaw: 5n }],
    });
    const move = moveOf('h', 'pending_settlement', 'settled');
    expect(change.guard).toEqual(moveGuard(move));
    expect(change.companions).toMatchObject([
      { row: 'charge', charge: { costRaw: 5n } },
      { row: 'reservation.moved', move, decided: true, corrected: false },
    ]);
  });

  it('the end of an unused payment gives all of its hold back, and the wallet keeps the amount', () => {
    const before = state({ heldRaw: 5n, walletRaw: 8n, promisedRaw: 5n });
    const { change } = decide(before, end(5n, 'expired_unsettled'), WORLD);
    expect(change.delta).toMatchObject({ spendableRaw: 5n, heldRaw: -5n, consumedRaw: 0n });
    expect(change.delta).toMatchObject({ walletRaw: 0n, promisedRaw: -5n });
    expect(change.posting?.code).toBe('hold.release');
  });
});

describe('money that comes in', () => {
  it('a deposit is added to the wallet, and a granted credit is not', () => {
    const deposited = decide(state({}), deposit(9n, true), WORLD).change;
    expect(deposited.delta).toMatchObject({ spendableRaw: 9n, creditedRaw: 9n, walletRaw: 9n });
    expect(deposited.posting?.code).toBe('funding.deposit');
    const granted = decide(state({}), deposit(9n, false), WORLD).change;
    expect(granted.delta).toMatchObject({ spendableRaw: 9n, creditedRaw: 9n, walletRaw: 0n });
    expect(granted.posting?.code).toBe('funding.credit');
  });
});

describe('a close', () => {
  it.each([
    ['all of it, where the wallet has as much', state({ spendableRaw: 9n, walletRaw: 20n }), 9n],
    ['what the wallet backs', state({ spendableRaw: 9n, walletRaw: 6n }), 6n],
    [
      'nothing that is promised to vendors',
      state({ spendableRaw: 9n, heldRaw: 4n, walletRaw: 10n, promisedRaw: 4n }),
      6n,
    ],
    ['nothing, where no deposit backs it', state({ spendableRaw: 9n }), 0n],
    ['nothing, where more left than came in', state({ spendableRaw: 9n, walletRaw: -3n }), 0n],
    ['nothing, where there is nothing', state({ walletRaw: 20n }), 0n],
  ])('a close takes everything out of the ledger and pays out %s', (_, before, paidRaw) => {
    const { spendableRaw } = before;
    const decision = decide(before, withdraw('p'), WORLD);
    expect(decision).toMatchObject({ kind: 'change', leftRaw: spendableRaw, shortfallRaw: 0n });
    expect(decision.change.delta).toMatchObject({
      spendableRaw: -spendableRaw,
      consumedRaw: spendableRaw,
      walletRaw: 0n,
      promisedRaw: paidRaw,
    });
    expect(decision.change.companions).toEqual(
      paidRaw === 0n
        ? []
        : [{ row: 'payout.planned', agentId: AGENT, payout: payoutOf('p'), amountRaw: paidRaw }],
    );
  });

  it('a close promises nothing where no payout is possible', () => {
    const { change } = decide(state({ spendableRaw: 9n, walletRaw: 9n }), withdraw(null), WORLD);
    expect(change.delta).toMatchObject({ spendableRaw: -9n, promisedRaw: 0n });
    expect(change.companions).toEqual([]);
  });
});

describe('a sweep', () => {
  it.each([
    ['what gateway and phone have consumed', state({ consumedRaw: 30n, walletRaw: 30n }), 30n],
    ['nothing that is spendable', state({ spendableRaw: 25n, walletRaw: 30n }), 5n],
    ['nothing that is held', state({ heldRaw: 25n, walletRaw: 30n }), 5n],
    ['nothing that is on its way out', state({ walletRaw: 30n, promisedRaw: 25n }), 5n],
    ['nothing, where credit that nothing backs is spendable', state({ spendableRaw: 9n }), 0n],
    ['nothing, where more left than came in', state({ walletRaw: -3n }), 0n],
  ])('a sweep takes %s', (_, before, sweptRaw) => {
    const { change } = decide(before, sweep(1n), WORLD);
    expect(change.delta).toEqual({
      ...decide(state({}), sweep(1n), WORLD).change.delta,
      promisedRaw: sweptRaw,
    });
    const payout = payoutOf('s', 'sweep');
    expect(change.companions).toEqual(
      sweptRaw === 0n
        ? []
        : [{ row: 'payout.planned', agentId: AGENT, payout, amountRaw: sweptRaw }],
    );
    expect(change.posting?.entries ?? []).toEqual([]);
  });

  it('a sweep takes nothing that is not worth its gas, and writes nothing for an amount of zero', () => {
    const before = state({ walletRaw: 30n });
    expect(rowsOf(decide(before, sweep(30n), WORLD).change)).toEqual(['payout.planned']);
    expect(decide(before, sweep(31n), WORLD).change).toMatchObject({
      posting: null,
      companions: [],
    });
    expect(decide(state({}), sweep(0n), WORLD).change).toMatchObject({
      posting: null,
      companions: [],
    });
  });

  it('a sweep never takes what a pending payment, a release or a close could still claim', () => {
    const raw = fc.bigInt({ min: 0n, max: 50n });
    fc.assert(
      fc.property(raw, raw, raw, raw, (spendableRaw, payingRaw, meteredRaw, walletRaw) => {
        const before = state({
          spendableRaw,
          heldRaw: payingRaw + meteredRaw,
          walletRaw,
          promisedRaw: payingRaw,
        });
        const { change } = decide(before, sweep(1n), WORLD);
        const after = applyChange(before, change, WORLD.position);
        // The payment is void, the metered work cost nothing, and all of it is paid out.
        const owedRaw = spendableRaw + payingRaw + meteredRaw;
        const leftRaw = after.walletRaw - (after.promisedRaw - payingRaw);
        if (change.posting !== null) expect(leftRaw).toBeGreaterThanOrEqual(owedRaw);
      }),
    );
  });
});

describe('a payout that was seen on chain', () => {
  it('a payout that was seen on chain leaves the wallet and the promised amount, and no balance moves', () => {
    const operation: Operation = {
      kind: 'paid',
      agentId: AGENT,
      nonce: nonceOf('p'),
      amountRaw: 6n,
      txHash: '0xfe',
    };
    const before = state({ spendableRaw: 3n, walletRaw: 10n, promisedRaw: 6n });
    const { change } = decide(before, operation, WORLD);
    const after = applyChange(before, change, WORLD.position);
    expect(after).toEqual({ ...before, walletRaw: 4n, promisedRaw: 0n });
    expect(change.posting).toMatchObject({ id: `paid:${nonceOf('p')}`, askedRaw: 6n, entries: [] });
    expect(change.companions).toEqual([
      { row: 'payout.done', nonce: nonceOf('p'), txHash: '0xfe' },
    ]);
  });
});

describe('a payment that moved after its release', () => {
  it.each([
    ['whole, where it is there', 20n, 5n, 0n],
    ['as far as funds reach, and calls the rest a shortfall', 3n, 3n, 2n],
    ['from nothing: all of it is a shortfall', 0n, 0n, 5n],
  ])(
    'a payment that moved after its release is taken %s',
    (_, spendableRaw, chargedRaw, shortfallRaw) => {
      const before = state({ spendableRaw, walletRaw: 20n, promisedRaw: 2n });
      const decision = decide(before, correct(5n), WORLD);
      expect(decision).toMatchObject({ kind: 'change', leftRaw: chargedRaw, shortfallRaw });
      expect(applyChange(before, decision.change, WORLD.position)).toEqual({
        ...before,
        spendableRaw: spendableRaw - chargedRaw,
        consumedRaw: chargedRaw,
        walletRaw: 15n,
      });
      const entries = [
        { debit: 'agent:7:spendable', credit: 'chain:usdc', amountRaw: chargedRaw },
        { debit: 'shortfall:x402', credit: 'chain:usdc', amountRaw: shortfallRaw },
      ].filter(({ amountRaw }) => amountRaw > 0n);
      expect(decision.change.posting).toEqual({
        id: `correct:${nonceOf('h')}`,
        code: 'x402.correct',
        askedRaw: 5n,
        entries,
      });
      expect(decision.change.companions).toMatchObject([
        { row: 'charge', charge: { costRaw: chargedRaw } },
        { row: 'reservation.moved', decided: false, corrected: true },
      ]);
      expect(decision.change.guard).toMatchObject({ state: 'expired_unsettled' });
    },
  );

  it('a payment that moved after its release counts under the policies that it was paid under', () => {
    const rules = { ...ACTIVE, policies: [policyOf({ agentId: AGENT })] };
    const world = { ...WORLD, rules, position: momentAt(1_000_000, rules) };
    const { change } = decide(state({ spendableRaw: 3n }), correct(5n), world);
    expect(change.count).toMatchObject({ heldRaw: 0n, settledRaw: 3n, own: [0] });
  });
});

const raw = fc.bigInt({ min: 0n, max: 40n });
const arbitraryStep: fc.Arbitrary<Operation> = fc.oneof(
  raw.map((amountRaw) => pay(amountRaw)),
  raw.map((amountRaw) => end(amountRaw, 'settled')),
  raw.map((amountRaw) => end(amountRaw, 'expired_unsettled')),
  raw.map((amountRaw) => deposit(amountRaw, true)),
  raw.map((amountRaw) => deposit(amountRaw, false)),
  raw.map((amountRaw) => sweep(amountRaw)),
  raw.map((amountRaw) => correct(amountRaw)),
  fc.constantFrom(withdraw('p'), withdraw(null)),
);

describe('whatever is decided of payments', () => {
  it('any sequence of payments keeps credits = spendable + held + consumed, and promises no more than the wallet has', () => {
    fc.assert(
      fc.property(
        fc.record({ spendableRaw: raw, heldRaw: raw, walletRaw: raw }),
        fc.array(arbitraryStep, { maxLength: 12 }),
        (money, operations) => {
          let now = state({ ...money, promisedRaw: money.heldRaw });
          for (const operation of operations) {
            // A payment ends at what is held for it.
            if (operation.kind === 'settle' && operation.hold.amountRaw > now.heldRaw) continue;
            const freeRaw = walletFreeRaw(now);
            const { change } = decide(now, operation, WORLD);
            if (change.probe) continue;
            const next = applyChange(now, change, WORLD.position);
            expect(next.creditedRaw).toBe(next.spendableRaw + next.heldRaw + next.consumedRaw);
            expect(next.spendableRaw).toBeGreaterThanOrEqual(0n);
            const isPromise = next.promisedRaw > now.promisedRaw;
            if (isPromise) expect(walletFreeRaw(next)).toBeGreaterThanOrEqual(0n);
            // What is used of a promise was not free before either.
            if (operation.kind === 'settle' && operation.request.actualRaw > 0n) {
              expect(walletFreeRaw(next)).toBe(freeRaw);
            }
            now = next;
          }
        },
      ),
    );
  });
});
