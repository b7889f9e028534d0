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
  it('decides each operation on the state that the one before it left', () => {
    const queue = [hold('a', 60n), hold('b', 60n), hold('c', 40n)].map((item) => pending(item));
    const { taken } = takeOperations(1, queue, balance, options);
    expect(taken.map((item) => item.decision.kind)).toEqual(['change', 'refused', 'change']);
  });

  it('leaves the second of two operations on one hold behind until the first is known', () => {
    const first = pending(hold('a', 1n));
    const second = pending(hold('a', 1n));
    const third = pending(hold('b', 1n));
    const { taken, rest } = takeOperations(1, [first, second, third], balance, options);
    expect(taken.map((item) => item.pending)).toEqual([first, third]);
    expect(rest).toEqual([second]);
  });

  it('takes no more than it may and keeps the order of what stays', () => {
    const queue = ['a', 'b', 'c'].map((id) => pending(hold(id, 1n)));
    const { taken, rest } = takeOperations(1, queue, balance, { ...options, limit: 1 });
    expect(taken).toHaveLength(1);
    expect(rest).toEqual(queue.slice(1));
  });

  it('sends a suspect by itself, before and after its turn', () => {
    const suspect = pending(hold('a', 1n), true);
    const other = pending(hold('b', 1n));
    expect(takeOperations(1, [suspect, other], balance, options).rest).toEqual([other]);
    expect(takeOperations(1, [other, suspect], balance, options).rest).toEqual([suspect]);
  });

  it('rejects an operation whose caller cannot describe its charge, and no other', () => {
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
        charge: () => {
          throw new Error('no such model');
        },
      },
    };
    const first = pending(broken, false, (error) => errors.push(error));
    const { taken } = takeOperations(1, [first, pending(hold('a', 1n))], balance, options);
    expect(errors).toMatchObject([{ message: 'no such model' }]);
    expect(taken).toHaveLength(1);
  });
});
