import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BodyBudget, BodyShare } from '../../../../src/http/body/body-budget.ts';

const budgetOf = (bytes: number, bytesPerCaller = bytes) =>
  new BodyBudget({ bytes, bytesPerCaller });

describe('the bytes of bodies', () => {
  it('the buffered request bytes of each caller are bounded over all its requests together', () => {
    const budget = budgetOf(1_000, 100);
    const first = new BodyShare(budget);
    const second = new BodyShare(budget);
    const other = new BodyShare(budget);
    expect(first.belongsTo('a')).toBeUndefined();
    expect(first.take(60)).toBeUndefined();
    // What came before its caller was known counts as well.
    expect(second.take(50)).toBeUndefined();
    expect(second.belongsTo('a')).toBe('crowded');
    second.giveBack();
    expect(first.take(50)).toBe('crowded');
    other.belongsTo('b');
    expect(other.take(100)).toBeUndefined();
    first.giveBack();
    const third = new BodyShare(budget);
    third.belongsTo('a');
    expect(third.take(100)).toBeUndefined();
    expect(budget.heldBytes).toBe(200);
  });

  it('ten callers that buffer as many request bytes as they can leave room for another caller', () => {
    const budget = budgetOf(100_000, 40_000);
    for (let caller = 0; caller < 10; caller++) {
      const share = new BodyShare(budget);
      share.belongsTo(`sybil ${caller}`);
      while (share.take(10) === undefined);
    }
    const late = new BodyShare(budget);
    late.belongsTo('late');
    expect(late.take(50)).toBeUndefined();
  });

  it('the budget of buffered request bytes is given back in full, in whatever order', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(3), fc.nat(400), fc.boolean()), { maxLength: 30 }),
        (requests) => {
          const budget = budgetOf(1_000, 300);
          const shares = requests.map(([caller, bytes, isKnown]) => {
            const share = new BodyShare(budget);
            if (isKnown) share.belongsTo(String(caller));
            share.take(bytes);
            share.belongsTo(String(caller));
            expect(budget.heldBytes).toBeLessThanOrEqual(1_000);
            return share;
          });
          for (const share of shares.reverse()) {
            share.giveBack();
            share.giveBack();
          }
          expect(budget.heldBytes).toBe(0);
          for (let caller = 0; caller < 4; caller++) {
            const share = new BodyShare(budget);
            share.belongsTo(String(caller));
            expect(share.take(200)).toBeUndefined();
            share.giveBack();
          }
        },
      ),
    );
  });
});
