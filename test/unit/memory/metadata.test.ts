import { describe, expect, it } from 'vitest';
import { MEMORY_LIMITS } from '../../../src/memory/limits.ts';
import {
  checkMetadata,
  extendSchema,
  filterTerms,
  queryTerms,
  termsOf,
} from '../../../src/memory/metadata.ts';

describe('metadata', () => {
  it('metadata is found by its values and its words, within its own namespace and field', () => {
    const terms = termsOf(7, { role: 'Lead engineer', age: 40, remote: true });
    const has = (some: readonly string[]) => some.every((term) => terms.includes(term));
    expect(has(filterTerms(7, { role: 'Lead engineer', age: 40, remote: true }))).toBe(true);
    expect(has(queryTerms(7, ['role'], 'engineer'))).toBe(true);
    expect(has(filterTerms(8, { age: 40 }))).toBe(false);
    expect(has(filterTerms(7, { age: '40' }))).toBe(false);
    expect(has(filterTerms(7, { role: 'engineer' }))).toBe(false);
    expect(has(queryTerms(8, ['role'], 'engineer'))).toBe(false);
    expect(has(queryTerms(7, ['team'], 'engineer'))).toBe(false);
  });

  it('a query searches metadata with a limited number of words, for any number of fields and any length', () => {
    const fields = Array.from({ length: 32 }, (_, n) => `f${n}`);
    const query = Array.from({ length: 100 }, (_, n) => `word${n}`).join(' ');
    const terms = queryTerms(7, [...fields, ...fields], query);
    expect(terms.length).toBe(MEMORY_LIMITS.query.terms);
    for (const field of fields) {
      expect(terms.filter((term) => term.endsWith(`:${field}`)).length, field).toBe(4);
    }
    expect(queryTerms(7, ['f'], query).length).toBe(MEMORY_LIMITS.query.words);
    expect(queryTerms(7, [], query)).toEqual([]);
  });

  it('metadata is refused only when a declared field has another type', () => {
    const details = checkMetadata({ age: 'number' }, { age: 'x', toString: 'y' }, ['memories', 3]);
    expect(details).toMatchObject([{ path: ['memories', 3, 'age'] }]);
    expect(checkMetadata({ age: 'number' }, { age: 3 }, [])).toEqual([]);
  });

  it('a metadata schema can gain fields up to its limit, and its types cannot change', () => {
    expect(extendSchema({ a: 'string' }, { b: 'number' })).toEqual({
      schema: { a: 'string', b: 'number' },
      details: [],
    });
    expect(extendSchema({ a: 'string' }, { a: 'number' }).details).toHaveLength(1);
    const many = Object.fromEntries(Array.from({ length: 33 }, (_, n) => [`f${n}`, 'string']));
    expect(extendSchema({}, many as never).details).toMatchObject([{ code: 'too_big' }]);
  });
});
