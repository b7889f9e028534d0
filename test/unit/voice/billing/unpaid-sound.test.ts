import { expect, it } from 'vitest';
import { UnpaidSound } from '../../../../src/voice/billing/unpaid-sound.ts';

it('counts what was said until it is billed, and gives each part of it out once', () => {
  const unpaid = new UnpaidSound();
  unpaid.add(1_000);
  unpaid.add(500);
  expect([unpaid.take(), unpaid.ms]).toEqual([0, 1_500]);
  unpaid.told(1_000, false);
  expect([unpaid.take(), unpaid.take(), unpaid.ms]).toEqual([1_000, 0, 1_500]);
  unpaid.billed(1_000);
  expect(unpaid.ms).toBe(500);
});

it('charges nothing for what no recogniser heard, and all that nobody waits for', () => {
  const unpaid = new UnpaidSound();
  unpaid.add(1_000);
  unpaid.add(500);
  unpaid.told(1_000, true);
  expect([unpaid.take(), unpaid.ms]).toEqual([0, 500]);
  unpaid.waitNoMore();
  expect(unpaid.take()).toBe(500);
});
