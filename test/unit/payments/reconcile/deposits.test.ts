import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { newDeposits } from '../../../../src/payments/reconcile/deposits.ts';
import type { Transfer } from '../../../../src/platform/chain/usdc.ts';
import { word } from '../../../support/fakes/json-rpc-node.ts';

const STRANGER = `0x${'dd'.repeat(20)}`;
const OURS = `0x${'a1'.repeat(20)}`;
const OTHER = `0x${'a2'.repeat(20)}`;

const transfer = (valueRaw: bigint, change: Partial<Transfer> = {}): Transfer => ({
  from: STRANGER,
  to: OURS,
  valueRaw,
  txHash: word(1),
  blockNumber: 5,
  blockHash: word(5),
  logIndex: 0,
  ...change,
});

const nameOf = (nth: number, to = OURS, tx = 1) => `deposit:${word(tx)}:${to}:${nth}`;

const judged = (transfers: readonly Transfer[], credited: Readonly<Record<string, bigint>> = {}) =>
  newDeposits(transfers, async () => new Map(Object.entries(credited)));

const missing = async (...asked: Parameters<typeof judged>) =>
  (await judged(...asked)).fresh.map(({ reference, transfer: { valueRaw } }) => [
    reference,
    valueRaw,
  ]);

describe('the name of a deposit', () => {
  it('a deposit’s name is its transaction, its wallet and its position among that wallet’s transfers', async () => {
    const transfers = [transfer(1n), transfer(2n, { to: OTHER }), transfer(3n)];
    expect(await missing([...transfers, transfer(4n, { txHash: word(2) })])).toEqual([
      [nameOf(0), 1n],
      [nameOf(1), 3n],
      [nameOf(0, OTHER), 2n],
      [nameOf(0, OURS, 2), 4n],
    ]);
  });

  it('a deposit’s position in its name counts transfers of amount 0 too', async () => {
    expect(await missing([transfer(0n), transfer(1n)])).toEqual([[nameOf(1), 1n]]);
  });

  it('newDeposits without transfers does not read the credited deposits', async () => {
    const never = () => Promise.reject(new Error('asked'));
    expect(await newDeposits([], never)).toEqual({ fresh: [], odd: [] });
  });
});

describe('deposits that are missing', () => {
  it('the missing deposits of a transaction are those never credited, named as in a first reading', async () => {
    const transfers = [transfer(0n), transfer(7n), transfer(5n, { from: OURS }), transfer(9n)];
    expect(await missing(transfers)).toEqual([
      [nameOf(1), 7n],
      [nameOf(3), 9n],
    ]);
    expect(await missing(transfers, { [nameOf(1)]: 7n })).toEqual([[nameOf(3), 9n]]);
    expect(await missing(transfers, { [nameOf(1)]: 7n, [nameOf(3)]: 9n })).toEqual([]);
  });

  it('a missing deposit whose name another one took is credited under the next name, and the other not twice', async () => {
    // The first of two was left out when they were read first.
    const transfers = [transfer(7n), transfer(9n)];
    const credited = { [nameOf(0)]: 9n };
    expect(await missing(transfers, credited)).toEqual([[nameOf(1), 7n]]);
    expect(await missing(transfers, { ...credited, [nameOf(1)]: 7n })).toEqual([]);
  });

  it('an answer that leaves out a credited deposit yields no missing deposits', async () => {
    const credited = { [nameOf(0)]: 7n, [nameOf(1)]: 9n };
    expect(await missing([transfer(9n)], credited)).toEqual([]);
  });

  it('a deposit whose name was credited with another amount is odd until the chain shows both', async () => {
    const credited = { [nameOf(0)]: 7n };
    const { fresh, odd } = await judged([transfer(9n)], credited);
    expect([fresh, odd.map(({ transfer: { valueRaw } }) => valueRaw)]).toEqual([[], [9n]]);
    expect(await missing([transfer(7n), transfer(9n)], credited)).toEqual([[nameOf(1), 9n]]);
  });

  it('credited deposits add up to what came in, however often and with whatever gaps a transaction is read', async () => {
    const values = fc.array(fc.bigInt({ min: 0n, max: 3n }), { minLength: 1, maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(values, fc.array(fc.nat(63), { maxLength: 6 }), async (amounts, gaps) => {
        const whole = amounts.map((valueRaw, logIndex) => transfer(valueRaw, { logIndex }));
        const credited = new Map<string, bigint>();
        const sum = () => [...credited.values()].reduce((all, raw) => all + raw, 0n);
        const inAll = amounts.reduce((all, raw) => all + raw, 0n);
        // Each gap is a bit a transfer: readings that leave some out, and one at the end that does not.
        for (const gap of [...gaps, 0]) {
          const told = whole.filter((_, i) => (gap & (1 << i)) === 0);
          for (const each of (await newDeposits(told, async () => credited)).fresh) {
            expect(credited.has(each.reference)).toBe(false);
            credited.set(each.reference, each.transfer.valueRaw);
          }
          expect(sum()).toBeLessThanOrEqual(inAll);
        }
        expect(sum()).toBe(inAll);
      }),
    );
  });
});
