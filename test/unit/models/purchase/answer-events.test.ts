import { expect, test } from 'vitest';
import { budgetOf } from '../../../../src/models/purchase/answer-events.ts';

test('an upstream whose buyer cannot be told what is left is not bought from any longer', async () => {
  let stops = 0;
  const lost = new Error('the database is gone');
  const told = budgetOf({ budget: () => Promise.reject(lost) }, { stop: () => void stops++ });
  await expect(told).rejects.toBe(lost);
  expect(stops).toBe(1);
});
