import { describe, expect, it } from 'vitest';
import { digitsForWords } from '../../../../src/engines/guide/guide-numbers.ts';

describe('guide numbers', () => {
  it('the guide writes spoken numbers as digits and leaves every other word alone', () => {
    expect(digitsForWords('twenty-two plus one hundred and five')).toBe('22 plus 105');
    expect(digitsForWords('three million two hundred thousand and one')).toBe('3200001');
    expect(digitsForWords('one point two five times nine')).toBe('1.25 times 9');
    expect(digitsForWords('bread and butter')).toBe('bread and butter');
    expect(digitsForWords('a hundred')).toBe('a hundred');
  });
});
