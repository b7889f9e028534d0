import { describe, expect, it } from 'vitest';
import {
  cardinal,
  decade,
  decimal,
  digitWords,
  ordinal,
  year,
} from '../../../../src/voice/speech-text/number-words.ts';

describe('number words', () => {
  it.each([
    ['0', 'zero'],
    ['13', 'thirteen'],
    ['40', 'forty'],
    ['99', 'ninety-nine'],
    ['100', 'one hundred'],
    ['1005', 'one thousand five'],
    ['1250000', 'one million two hundred fifty thousand'],
    ['999999999999999', /^nine hundred ninety-nine trillion .* nine hundred ninety-nine$/],
    ['1000000000000000', /^one zero zero( zero)+$/],
  ])('number words read the whole number %s', (digits, words) => {
    expect(cardinal(digits)).toMatch(words instanceof RegExp ? words : new RegExp(`^${words}$`));
  });

  it('number words read fractions, ordinals and single digits', () => {
    expect(decimal('3.14')).toBe('three point one four');
    expect(decimal('.5')).toBe('zero point five');
    expect(decimal('1,000.00')).toBe('one thousand');
    expect(['1', '2', '12', '20', '23', '100'].map(ordinal)).toEqual([
      'first',
      'second',
      'twelfth',
      'twentieth',
      'twenty-third',
      'one hundredth',
    ]);
    expect(digitWords('0423')).toBe('zero four two three');
  });

  it('number words read years in halves, and decades', () => {
    expect(['1984', '1900', '1905', '2000', '2005', '2010', '2026'].map(year)).toEqual([
      'nineteen eighty-four',
      'nineteen hundred',
      'nineteen oh five',
      'two thousand',
      'two thousand five',
      'twenty ten',
      'twenty twenty-six',
    ]);
    expect(['1990', '2000'].map(decade)).toEqual(['nineteen nineties', 'two thousands']);
  });
});
