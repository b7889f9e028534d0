import { expect, it } from 'vitest';
import { UnpaidSound } from '../../../../src/voice/billing/unpaid-sound.ts';

it('unpaid sound counts until it is billed, and each part of it is taken once', () => {
  const unpaid = new UnpaidSound();
  unpaid.add(1_000);
  unpaid.add(500);
  expect([unpaid.take(), unpaid.ms]).toEqual([0, 1_500]);
  unpaid.transcribed(1_000, false);
  expect([unpaid.take(), unpaid.take(), unpaid.ms]).toEqual([1_000, 0, 1_500]);
  unpaid.billed(1_000);
  expect(unpaid.ms).toBe(500);
});

it('unpaid sound leaves out what no recogniser heard, and includes all once the session waits no more', () => {
  const unpaid = new UnpaidSound();
  unpaid.add(1_000);
  unpaid.add(500);
  unpaid.transcribed(1_000, true);
  expect([unpaid.take(), unpaid.ms]).toEqual([0, 500]);
  unpaid.waitNoMore();
  expect(unpaid.take()).toBe(500);
});
