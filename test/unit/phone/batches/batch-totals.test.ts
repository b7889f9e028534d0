import { expect, it } from 'vitest';
import { totalsOf } from '../../../../src/phone/batches/batch-totals.ts';

const counted = [
  { batchId: 'b', state: 'done', outcome: 'completed', recipients: 2, costRaw: 70n },
  { batchId: 'b', state: 'done', outcome: 'busy', recipients: 1, costRaw: 0n },
  { batchId: 'b', state: 'waiting', outcome: null, recipients: 3, costRaw: 5n },
] as const;

it('batch totals count recipients by state and outcome, and sum their costs', () => {
  expect(totalsOf(counted)).toEqual({
    recipients: 6,
    costRaw: 75n,
    counts: {
      waiting: 3,
      calling: 0,
      completed: 2,
      voicemail: 0,
      busy: 1,
      no_answer: 0,
      failed: 0,
      invalid: 0,
      refused: 0,
      canceled: 0,
      expired: 0,
    },
  });
});
