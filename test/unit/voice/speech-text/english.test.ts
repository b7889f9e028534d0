import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readEnglish } from '../../../../src/voice/speech-text/english.ts';

describe('readEnglish', () => {
  it.each([
    ['Dr. Smith of St. Louis.', 'Doctor Smith of Saint Louis.'],
    [
      'She lives at 12 Elm Dr. near Main St. now.',
      'She lives at twelve Elm Drive near Main Street now.',
    ],
    ['It is No. 7, e.g. here, etc.', 'It is number seven, for example here, et cetera.'],
    ['Mr. and Mrs. Jones vs. us.', 'Mister and Missus Jones versus us.'],
    ['We close at 9 p.m.', 'We close at nine PM.'],
    ['Mail joe.smith@a-b.example.', 'Mail joe dot smith at a dash b dot example.'],
    ['Visit www.example.com/help.', 'Visit example dot com slash help.'],
    ['A & B, R&D, x_y → z, and/or', 'A and B, R and D, x y to z, and or'],
    ['2 * 3 = 6 and ~10', 'two times three equals six and about ten'],
    ['No, I did not. Yes.', 'No, I did not. Yes.'],
  ])('readEnglish reads %j as %j', (written, said) => {
    expect(readEnglish(written)).toBe(said);
  });

  it('readEnglish finishes in bounded time for any text', () => {
    const hostile = fc.constantFrom(
      'a',
      'A',
      '1',
      '.',
      ',',
      '-',
      ' ',
      '@',
      '/',
      ':',
      '$',
      'Dr.',
      '(',
      ')',
    );
    fc.assert(
      fc.property(fc.array(hostile, { minLength: 300, maxLength: 600 }), (parts) => {
        const startedMs = performance.now();
        readEnglish(parts.join(''));
        expect(performance.now() - startedMs).toBeLessThan(500);
      }),
      { numRuns: 50 },
    );
  });
});
