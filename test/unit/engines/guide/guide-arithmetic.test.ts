import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { answerSum } from '../../../../src/engines/guide/guide-arithmetic.ts';

describe('guide arithmetic', () => {
  it.each([
    ['what is two plus two', '4'],
    ['What is 2 + 3 * 4?', '14'],
    ['(2 + 3) * 4 =', '20'],
    ['how much is twenty two minus seven', '15'],
    ['what is one hundred and five divided by 5', '21'],
    ['compute 15 percent of 80', '12'],
    ['3 x 4', '12'],
    ['1,000 + 1', '1001'],
    ['-(2 - 5)', '3'],
    ['0.1 + 0.2', '0.3'],
    ['one point five times two', '3'],
    ['what is two thousand three hundred plus one', '2301'],
  ])('the guide calculates "%s"', (question, result) => {
    expect(answerSum(question)).toBe(`That is ${result}.`);
  });

  it('the guide does not divide by zero', () => {
    expect(answerSum('1 / (2 - 2)')).toBe('Nothing can be divided by zero.');
  });

  it.each([
    'hello',
    'two',
    '5',
    '1 +',
    '2 2 + 1',
    '(1 + 2',
    ')',
    'one plus a pizza',
    '',
    '+',
    '1..2+1',
  ])('the guide takes "%s" for no arithmetic', (question) => {
    expect(answerSum(question)).toBeUndefined();
  });

  it('the guide’s arithmetic agrees with the machine on any sum of products, and never throws', () => {
    const number = fc.integer({ min: 0, max: 999 }).map(String);
    const sum = fc
      .array(fc.tuple(number, fc.constantFrom(' + ', ' - ', ' * ')), { minLength: 1, maxLength: 8 })
      .map((parts) => `${parts.map(([n, sign]) => n + sign).join('')}7`);
    fc.assert(
      fc.property(sum, (text) => {
        const expected = new Function(`return ${text}`)() as number;
        expect(answerSum(text)).toBe(`That is ${Number(expected.toPrecision(12))}.`);
      }),
    );
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'0123456789+-*/(). ') }), (text) => {
        answerSum(text);
      }),
    );
  });

  it('the guide’s arithmetic ignores a text beyond its length limit', () => {
    expect(answerSum(`${'('.repeat(200)}1+1${')'.repeat(200)}`)).toBeUndefined();
  });
});
