import { describe, expect, it } from 'vitest';
import { numberArray, textArray } from '../../../../src/platform/postgres/pg-array.ts';

describe('array literals', () => {
  it('an array literal quotes any text and distinguishes the word "NULL" from null', () => {
    expect(textArray([])).toBe('{}');
    expect(textArray(['a,b', null, 'NULL', 'say "hi"', 'back\\slash', '{x}'])).toBe(
      String.raw`{"a,b",NULL,"NULL","say \"hi\"","back\\slash","{x}"}`,
    );
  });

  it('array literals nest as elements of one another', () => {
    expect(textArray([textArray(['a"b']), '{plain}'])).toBe(String.raw`{"{\"a\\\"b\"}","{plain}"}`);
  });

  it('an array literal writes numbers to the last digit', () => {
    expect(numberArray([1, -2n, null, 9_223_372_036_854_775_807n])).toBe(
      '{1,-2,NULL,9223372036854775807}',
    );
  });
});
