import { describe, expect, it } from 'vitest';
import { answerTime } from '../../../../src/engines/guide/guide-answer.ts';

const nowMs = Date.UTC(2026, 10, 21, 9, 5);

describe('guide time', () => {
  it('the guide tells the time and the date in UTC from the instant it is given', () => {
    expect(answerTime('What time is it?', nowMs)).toBe(
      'It is 09:05 UTC on Saturday, 21 November 2026.',
    );
    expect(answerTime("What's the date today", nowMs)).toBe('Today is Saturday, 21 November 2026.');
    expect(answerTime('which day is it', nowMs)).toContain('Saturday');
  });

  it('the guide’s clock does not answer other questions', () => {
    expect(answerTime('how many times did I call', nowMs)).toBeUndefined();
  });
});
