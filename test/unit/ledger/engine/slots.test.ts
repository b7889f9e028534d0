import { describe, expect, it } from 'vitest';
import { createSlots } from '../../../../src/ledger/engine/slots.ts';

const settleDown = async () => {
  for (let i = 0; i < 10; i++) await Promise.resolve();
};

describe('createSlots', () => {
  it('createSlots runs no more tasks at a time than it has slots, in arrival order, whatever fails', async () => {
    const slot = createSlots(2);
    let running = 0;
    let most = 0;
    const order: number[] = [];
    const work = (i: number) =>
      slot(async () => {
        most = Math.max(most, ++running);
        order.push(i);
        await settleDown();
        running--;
        if (i === 1) throw new Error('failed');
      });
    const results = await Promise.allSettled([0, 1, 2, 3, 4].map(work));
    expect(most).toBe(2);
    expect(order).toEqual([0, 1, 2, 3, 4]);
    expect(results.map((result) => result.status)).toEqual([
      'fulfilled',
      'rejected',
      'fulfilled',
      'fulfilled',
      'fulfilled',
    ]);
  });
});
