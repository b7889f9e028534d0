import { describe, expect, it } from 'vitest';
import {
  completeSchema,
  objectSchema,
  schemaRoom,
} from '../../../../../src/models/providers/fit/object-schema.ts';

describe('the schema of the parameters of a tool', () => {
  it('a tool schema that every vendor accepts is passed on as the same object', () => {
    const schema = { type: 'object', properties: { a: { type: 'array', items: {} } } };
    expect(objectSchema(schema)).toBe(schema);
    expect(completeSchema(schema, schemaRoom())).toBe(schema);
  });

  it('a tool schema’s array without items gets items of any kind', () => {
    const list = { type: 'array' };
    const schema = { $defs: { d: list }, properties: { a: { items: list }, b: { oneOf: [list] } } };
    const whole = { type: 'array', items: {} };
    expect(completeSchema(schema, schemaRoom())).toEqual({
      type: 'object',
      $defs: { d: whole },
      properties: { a: { items: whole }, b: { oneOf: [whole] } },
    });
  });

  it('a tool schema stays unchanged beyond the number of parts that are checked', () => {
    const properties = { a: { type: 'object' }, b: { type: 'array' } };
    const schema = { type: 'object', properties };
    expect(completeSchema(schema, { left: 2 })).toBe(schema);
  });
});
