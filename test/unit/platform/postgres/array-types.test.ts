import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ARRAY_TYPES } from '../../../../src/platform/postgres/array-types.ts';

const { textArray, int4Array, int8Array, float8Array } = ARRAY_TYPES;

type Type = (typeof ARRAY_TYPES)[keyof typeof ARRAY_TYPES];

describe('arrays on their way to the database and back', () => {
  it('arrays of each type are the same after serializing and parsing', () => {
    const same = (type: Type, items: fc.Arbitrary<unknown[]>) =>
      fc.assert(
        fc.property(items, (sent) => {
          expect(type.parse(String(type.serialize(sent)))).toEqual(sent);
        }),
      );
    same(textArray, fc.array(fc.option(fc.string({ unit: 'binary' })), { maxLength: 8 }));
    same(int8Array, fc.array(fc.option(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }))));
    same(int4Array, fc.array(fc.option(fc.integer())));
    same(float8Array, fc.array(fc.double({ noNaN: true }).filter((real) => !Object.is(real, -0))));
  });

  it('a text array distinguishes NULL from the word "NULL", and an array literal is sent as it is', () => {
    expect(textArray.parse('{NULL,"NULL","",null}')).toEqual([null, 'NULL', '', 'null']);
    expect(int8Array.parse('{}')).toEqual([]);
    expect(int8Array.serialize('{1,2}')).toBe('{1,2}');
  });
});
