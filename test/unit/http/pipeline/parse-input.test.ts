import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  decodeParams,
  decodeQuery,
  parseShape,
} from '../../../../src/http/pipeline/parse-input.ts';
import { ApiError } from '../../../../src/kernel/api-error.ts';

function refusalOf(work: () => unknown): ApiError {
  try {
    work();
  } catch (thrown) {
    if (thrown instanceof ApiError) return thrown;
  }
  throw new Error('nothing was refused');
}

describe('input from outside', () => {
  it('input from outside cannot reach a prototype through its names', () => {
    const query = decodeQuery('__proto__=x&constructor=y&a=1');
    expect(Object.getPrototypeOf(query)).toBe(Object.prototype);
    expect(({} as Record<string, unknown>).x).toBeUndefined();
  });

  it('input keeps the last of a repeated query name and tolerates invalid percent escapes', () => {
    expect(decodeQuery('a=1&a=2&b=%zz&c=%41+d')).toEqual({ a: '2', b: '%zz', c: 'A d' });
  });

  it('input is refused with at most twenty details, however many faults it has', () => {
    const many = Array.from({ length: 500 }, () => 'not a number');
    const refusal = refusalOf(() => parseShape(z.array(z.number()), many, 'flat'));
    expect(refusal.fields.details).toHaveLength(20);
  });

  it('the refusal of input names the parameter whose percent-encoding is broken', () => {
    const refusal = refusalOf(() => decodeParams([['id', '%E0%A4']], 'openai'));
    expect(refusal.fields).toMatchObject({ param: 'id' });
    expect(decodeParams([['id', 'a%20b']], 'flat')).toEqual({ id: 'a b' });
  });
});
