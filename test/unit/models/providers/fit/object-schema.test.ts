import { describe, expect, it } from 'vitest';
import {
  completeSchema,
  objectSchema,
  schemaRoom,
} from '../../../../../src/models/providers/fit/object-schema.ts';

describe('the schema of the parameters of a tool', () => {
  it('is the very same where every vendor takes it', () => {
    const schema = { type: 'object', properties: { a: { type: 'array', items: {} } } };
    expect(objectSchema(schema)).toBe(schema);
    expect(completeSchema(schema, schemaRoom())).toBe(schema);
  });

  it('has lists of anything where it says nothing of what is in them', () => {
    const list = { type: 'array' };
    const schema = { $defs: { d: list }, properties: { a: { items: list }, b: { oneOf: [list] } } };
    const whole = { type: 'array', items: {} };
    expect(completeSchema(schema, schemaRoom())).toEqual({
      type: 'object',
      $defs: { d: whole },
      properties: { a: { items: whole }, b: { oneOf: [whole] } },
    });
  });

  it('stays as it is behind the parts that are looked at', () => {
    const properties = { a: { type: 'object' }, b: { type: 'array' } };
    const schema = { type: 'object', properties };
    expect(completeSchema(schema, { left: 2 })).toBe(schema);
  });
});
