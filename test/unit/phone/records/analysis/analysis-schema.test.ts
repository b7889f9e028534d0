import { describe, expect, it } from 'vitest';
import {
  type AnalysisSchema,
  checkerOf,
  problemOfSchema,
} from '../../../../../src/phone/records/analysis/analysis-schema.ts';

const BOOKING = {
  type: 'object',
  properties: {
    outcome: { type: 'string', enum: ['booked', 'declined'] },
    guests: { type: 'integer', minimum: 1, maximum: 20 },
    notes: { type: 'array', items: { type: 'string', maxLength: 100 }, maxItems: 5 },
  },
  required: ['outcome'],
  additionalProperties: false,
};

/** A schema of so many levels. */
const nested = (levels: number): AnalysisSchema =>
  levels === 0 ? { type: 'string' } : { type: 'object', properties: { inner: nested(levels - 1) } };

describe('the schema of an analysis', () => {
  it('an analysis schema of an object is accepted, and refuses values that do not match it', () => {
    expect(problemOfSchema(BOOKING)).toBeUndefined();
    const checker = checkerOf(BOOKING);
    expect(checker.safeParse({ outcome: 'booked', guests: 2, notes: ['window'] }).success).toBe(
      true,
    );
    for (const wrong of [
      {},
      { outcome: 'maybe' },
      { outcome: 'booked', guests: 0 },
      { outcome: 'booked', x: 1 },
    ]) {
      expect(checker.safeParse(wrong).success, JSON.stringify(wrong)).toBe(false);
    }
  });

  it.each<[string, AnalysisSchema, RegExp]>([
    [
      'a pattern',
      { type: 'object', properties: { a: { type: 'string', pattern: '(a+)+$' } } },
      /"pattern"/,
    ],
    ['a reference', { type: 'object', properties: { a: { $ref: '#' } } }, /"\$ref"/],
    ['another type', { type: 'string' }, /type "object"/],
    ['a type that there is not', { type: 'object', properties: { a: { type: 'text' } } }, /./],
    ['properties that are no schemas', { type: 'object', properties: { a: 7 } }, /made of schemas/],
    ['nine levels', nested(10), /levels deep/],
    ['too many characters', { type: 'object', description: 'x'.repeat(8_192) }, /characters/],
    ['half a character', { type: 'object', description: 'a\0' }, /NUL/],
    [
      'too many schemas',
      {
        type: 'object',
        properties: Object.fromEntries(Array.from({ length: 250 }, (_, n) => [`p${n}`, {}])),
      },
      /at most 200 schemas/,
    ],
  ])('an analysis schema with %s is refused with the reason', (_, schema, words) => {
    expect(problemOfSchema(schema)).toMatch(words);
  });
});
