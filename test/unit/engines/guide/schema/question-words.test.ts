import { describe, expect, it } from 'vitest';
import { readQuestion } from '../../../../../src/engines/guide/schema/question-words.ts';

/** A Wednesday. */
const NOW_MS = Date.UTC(2026, 10, 25, 9, 30);
const read = (text: string) => readQuestion(text, '', NOW_MS);

describe('the words of a question', () => {
  it('have numbers, in digits and in words, with what stands around them', () => {
    const { numbers } = read('Book room 12 for twenty two guests at -3.5 and 1,200 dollars');
    expect(numbers.map(({ value }) => value)).toEqual([12, 22, -3.5, 1_200]);
    expect(numbers[0]?.near).toContain('room');
    expect(numbers[1]?.near[0]).toBe('guest');
  });

  it('have dates and times, the spoken ones counted from now', () => {
    const { dates, times } = read(
      'From 2026-12-24 or March 3 or 4th of May 2027, tomorrow or next Friday, at 5pm or 17:45',
    );
    expect(dates).toEqual(['2026-12-24', '2026-03-03', '2027-05-04', '2026-11-26', '2026-11-27']);
    expect(times).toEqual(['17:00:00', '17:45:00']);
    expect(read('on 2026-02-31').dates).toEqual([]);
  });

  it('have what is quoted, addresses of mail and of pages, and names', () => {
    const words = read(
      'Mail bob@example.com "see you" about https://example.com/a. in New York, please',
    );
    expect(words.quoted).toEqual(['see you']);
    expect(words.emails).toEqual(['bob@example.com']);
    expect(words.urls).toEqual(['https://example.com/a']);
    expect(words.named).toContainEqual({ text: 'New York', before: 'in' });
    expect(read('the weather in paris tomorrow').named).toEqual([{ text: 'paris', before: 'in' }]);
  });

  it('are read in milliseconds, whatever they are', () => {
    const started = performance.now();
    for (const text of [
      'a'.repeat(1_000),
      '"'.repeat(1_000),
      '1,'.repeat(500),
      "in ' ".repeat(250),
    ]) {
      read(text);
    }
    expect(performance.now() - started).toBeLessThan(1_000);
  });
});
