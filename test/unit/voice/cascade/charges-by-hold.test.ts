import { describe, expect, it } from 'vitest';
import { chargesOn } from '../../../support/charges-on.ts';

describe('the holds of a session', () => {
  it('the holds of a session count each purchase in progress beside the next, however close together they are made', async () => {
    const totals: bigint[] = [];
    const { hold } = chargesOn(async (totalRaw) => void totals.push(totalRaw));
    const [first] = await Promise.all([hold(5n), hold(7n), hold(1n, { floorRaw: 50n })]);
    first.drop();
    await hold(2n);
    expect(totals).toEqual([5n, 12n, 50n, 10n]);
  });

  it('the holds of a session do not count a purchase that was refused, and accept the next one', async () => {
    const { hold, tab } = chargesOn(async (totalRaw) => {
      if (totalRaw > 10n) throw new Error('refused');
    });
    const held = await Promise.allSettled([hold(6n), hold(6n), hold(4n)]);
    expect(held.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(tab.unbilledRaw()).toBe(10n);
  });
});
