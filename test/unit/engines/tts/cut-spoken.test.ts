import { describe, expect, it } from 'vitest';
import { cutSpoken } from '../../../../src/engines/tts/cut-spoken.ts';

describe('what is long to say', () => {
  it('a text is cut by its spoken length: 4,096 digits become many short pieces', () => {
    const digits = '1234567890'.repeat(410).slice(0, 4_096);
    const parts = cutSpoken(digits, 400);
    expect(parts.join('')).toBe(digits);
    expect(Math.max(...parts.map(({ length }) => length))).toBeLessThanOrEqual(67);
  });

  it('a text whose spoken length is no longer than its writing stays whole, and numbers are cut between words', () => {
    const sentence = 'The river is cold in the morning, and no one swims before noon. '
      .repeat(3)
      .trim();
    expect(cutSpoken(sentence, 400)).toEqual([sentence]);
    const numbers = Array.from({ length: 40 }, (_, i) => `${1_000 + i}`).join(' ');
    const parts = cutSpoken(numbers, 400);
    expect(parts.join(' ')).toBe(numbers);
    expect(parts.length).toBeGreaterThan(2);
    expect(cutSpoken('', 400)).toEqual([]);
  });
});
