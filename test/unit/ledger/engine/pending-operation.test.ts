import { describe, expect, it } from 'vitest';
import { Pending, takeOperations } from '../../../../src/ledger/engine/pending-operation.ts';
import type { Operation } from '../../../../src/ledger/rules/operation.ts';
import type { Balance } from '../../../../src/ledger/store/balances.ts';
import { ACTIVE } from '../../../support/fakes/memory-ledger.ts';
import { DESTINATION, FACTS } from '../../../support/spending.ts';

const balance: Balance = {
  rules: ACTIVE,
  state: {
    version: 1n,
    rulesVersion: 0n,
    spendableRaw: 100n,
    heldRaw: 0n,
    creditedRaw: 100n,
    consumedRaw: 0n,
    walletRaw: 0n,
    promisedRaw: 0n,
    counters: [],
  },
};

const pending = (operation: Operation, alone = false, tell = (_: unknown) => {}): Pending => {
  const item = new Pending(operation, 0, { count: 0 }, () => {}, tell);
  item.alone = alone;
  return item;
};

const hold = (holdId: string, amountRaw: bigint): Operation => ({
  kind: 'hold',
  agentId: 1,
  spender: { agentId: 1 },
  holdId,
  amountRaw,
  destination: DESTINATION,
  session: null,
  reservation: null,
});

const options = { limit: 10, nowMs: 0, openHolds: new Map<string, bigint>() };

describe('takeOperations', () => {
  it('takeOperations decides each operation on the state that the operation before it left', () => {
    const queue = [hold('a', 60n), hold('b', 60n), hold('c', 40n)].map((item) => pending(item));
    const { taken } = takeOperations(1, queue, balance, options);
    expect(taken.map((item) => item.decision.kind)).toEqual(['change', 'refused', 'change']);
  });

  it('takeOperations leaves the second of two operations on one hold for later, until the first is known', () => {
    const first = pending(hold('a', 1n));
    const second = pending(hold('a', 1n));
    const third = pending(hold('b', 1n));
    const { taken, rest } = takeOperations(1, [first, second, third], balance, options);
    expect(taken.map((item) => item.pending)).toEqual([first, third]);
    expect(rest).toEqual([second]);
  });

  it('takeOperations takes at most its limit and keeps the order of the rest', () => {
    const queue = ['a', 'b', 'c'].map((id) => pending(hold(id, 1n)));
    const { taken, rest } = takeOperations(1, queue, balance, { ...options, limit: 1 });
    expect(taken).toHaveLength(1);
    expect(rest).toEqual(queue.slice(1));
  });

  it('takeOperations sends a suspect operation by itself, at the front of the queue or behind others', () => {
    const suspect = pending(hold('a', 1n), true);
    const other = pending(hold('b', 1n));
    expect(takeOperations(1, [suspect, other], balance, options).rest).toEqual([other]);
    expect(takeOperations(1, [other, suspect], balance, options).rest).toEqual([suspect]);
  });

  it('takeOperations rejects an operation whose caller cannot describe its charge, and no other', () => {
    const errors: unknown[] = [];
    const broken: Operation = {
      kind: 'settle',
      agentId: 1,
      hold: { holdId: 'x', agentId: 1, amountRaw: 0n, facts: FACTS },
      ends: null,
      move: null,
      request: {
        actualRaw: 0n,
        account: 'gateway',
        source: 's',
        charges: () => {
          throw new Error('no such model');
        },
      },
    };
    const first = pending(broken, false, (error) => errors.push(error));
    const { taken } = takeOperations(1, [first, pending(hold('a', 1n))], balance, options);
    expect(errors).toMatchObject([{ message: 'no such model' }]);
    expect(taken).toHaveLength(1);
  });

  describe('what a hold gives to another one', () => {
    const reserve = { holdId: 'call', agentId: 1, amountRaw: 100n, facts: FACTS };
    const shrink = (byRaw: bigint, forHoldId: string | undefined): Operation => ({
      kind: 'shrink',
      agentId: 1,
      claim: { sessionId: 'call', epoch: 1, hold: reserve },
      byRaw,
      forHoldId,
    });
    /** All that the agent has is in the reserve of its call. */
    const spent = {
      ...balance,
      state: { ...balance.state, spendableRaw: 0n, heldRaw: 100n },
    };

    it('the raw units that a hold passes to another hold go to that hold, also where a rival waits between the two', () => {
      const [giving, rival, taking] = [
        pending(shrink(10n, 'model')),
        pending(hold('rival', 10n)),
        pending(hold('model', 10n)),
      ];
      const { taken } = takeOperations(1, [giving, rival, taking], spent, options);
      expect(taken.map((item) => item.pending)).toEqual([giving, taking, rival]);
      expect(taken.map((item) => item.decision.kind)).toEqual(['change', 'change', 'refused']);
    });

    it('a hold passes nothing to another hold while the batch has no room for both', () => {
      const others = ['a', 'b'].map((id) => pending(hold(id, 0n)));
      const [giving, taking] = [pending(shrink(10n, 'model')), pending(hold('model', 10n))];
      const queue = [...others, giving, taking];
      const full = takeOperations(1, queue, spent, { ...options, limit: 3 });
      expect(full.taken.map((item) => item.pending)).toEqual(others);
      expect(full.rest).toEqual([giving, taking]);
      const first = takeOperations(1, [giving, taking], spent, { ...options, limit: 1 });
      expect(first.taken.map((item) => item.pending)).toEqual([giving, taking]);
    });

    it('a hold passes nothing to a busy hold, and later operations on either hold wait as well', () => {
      const before = pending(hold('model', 0n));
      const giving = pending(shrink(10n, 'model'));
      const busy = pending(shrink(1n, undefined));
      const first = takeOperations(1, [before, giving, busy], spent, options);
      expect(first.taken.map((item) => item.pending)).toEqual([before, giving]);
      expect(first.rest).toEqual([busy]);
      const taking = pending({
        kind: 'extend',
        agentId: 1,
        claim: { sessionId: 'model', epoch: 1, hold: { ...reserve, holdId: 'model' } },
        byRaw: 10n,
      });
      const journal = pending({
        kind: 'advance',
        agentId: 1,
        holdId: 'model',
        move: { nonce: 'n', from: 'reserved', to: 'sent' },
      } as Operation);
      const second = takeOperations(1, [journal, giving, taking, busy], spent, options);
      expect(second.taken.map((item) => item.pending)).toEqual([journal]);
      expect(second.rest).toEqual([giving, taking, busy]);
    });

    const loan = (byRaw: bigint, forHoldId: string) => {
      const lending = shrink(byRaw, forHoldId) as Extract<Operation, { kind: 'shrink' }>;
      const giver = pending({ ...lending, isLoan: true });
      const taker = pending(hold(forHoldId, byRaw));
      giver.pairWith(taker);
      return { giver, taker };
    };

    it('a loan between holds is sent in the batch of the hold that takes it, also where both are suspects', () => {
      const { giver, taker } = loan(10n, 'bought');
      giver.alone = true;
      taker.alone = true;
      const queue = [giver, taker, pending(hold('rival', 10n))];
      const { rest, taken } = takeOperations(1, queue, spent, { ...options, limit: 1 });
      expect(taken.map((item) => item.pending)).toEqual([giver, taker]);
      expect(taken.map((item) => item.decision.kind)).toEqual(['change', 'change']);
      expect(rest).toEqual(queue.slice(2));
    });

    it('a loan between holds moves nothing where the taking hold is refused', () => {
      const { giver, taker } = loan(10n, 'bought');
      const revoked = { ...hold('bought', 10n), spender: { agentId: 1, keyId: 404 } } as Operation;
      const refused = pending(revoked);
      giver.pairWith(refused);
      const { part, taken } = takeOperations(1, [giver, refused], spent, options);
      expect(taken.map((item) => item.decision.kind)).toEqual(['refused', 'refused']);
      expect([part.writes, part.after.spendableRaw]).toEqual([0, 0n]);
      expect(taker.giver).toBe(giver);
    });

    it('a hold that passes raw units on is sent by itself where the other hold was not requested', () => {
      const giving = pending(shrink(10n, 'model'));
      expect(takeOperations(1, [giving], spent, options).taken).toHaveLength(1);
    });
  });
});
