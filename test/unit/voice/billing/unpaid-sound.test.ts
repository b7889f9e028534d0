import { expect, it } from 'vitest';
import { UnpaidSound } from '../../../../src/voice/billing/unpaid-sound.ts';

it('UnpaidSound counts audio until it is billed, and each part is taken once', () => {
  const unpaid = new UnpaidSound();
  unpaid.add(1_000);
  unpaid.add(500);
  expect([unpaid.take(), unpaid.ms]).toEqual([0, 1_500]);
  unpaid.transcribed(1_000, false);
  expect([unpaid.take(), unpaid.take(), unpaid.ms]).toEqual([1_000, 0, 1_500]);
  unpaid.billed(1_000);
  expect(unpaid.ms).toBe(500);
});

it('UnpaidSound leaves out audio that no recogniser heard, and includes all audio once the session no longer waits', () => {
  const unpaid = new UnpaidSound();
  unpaid.add(1_000);
  unpaid.add(500);
  unpaid.transcribed(1_000, true);
  expect([unpaid.take(), unpaid.ms]).toEqual([0, 500]);
  unpaid.waitNoMore();
  expect(unpaid.take()).toBe(500);
});
