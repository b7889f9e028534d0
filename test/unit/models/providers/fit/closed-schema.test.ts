import { transformJSONSchema } from '@anthropic-ai/sdk/lib/transform-json-schema';
import { describe, expect, it } from 'vitest';
import { closedSchema } from '../../../../../src/models/providers/fit/closed-schema.ts';

const SCHEMA = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  description: 'A trip',
  properties: {
    days: { type: 'integer', minimum: 1, maximum: 14 },
    city: { type: 'string', minLength: 2, pattern: '^[A-Z]', description: 'Where to' },
    at: { type: 'string', format: 'date' },
    mail: { type: 'string', format: 'idn-email' },
    stops: { type: 'array', items: { $ref: '#/$defs/stop' }, minItems: 2, maxItems: 5 },
    kind: { oneOf: [{ enum: ['a', 'b'] }, { type: 'null' }] },
  },
  required: ['days'],
  additionalProperties: true,
  $defs: { stop: { type: 'object', properties: { name: { type: 'string' } } } },
};

describe('a schema that a Claude model can be bound to', () => {
  it('a schema for strict Claude output gets closed objects, and its bounds move to descriptions', () => {
    expect(closedSchema(SCHEMA)).toEqual({
      type: 'object',
      description: 'A trip',
      properties: {
        days: { type: 'integer', description: '{minimum: 1, maximum: 14}' },
        city: { type: 'string', description: 'Where to\n\n{minLength: 2, pattern: "^[A-Z]"}' },
        at: { type: 'string', format: 'date' },
        mail: { type: 'string', description: '{format: "idn-email"}' },
        stops: {
          type: 'array',
          items: { $ref: '#/$defs/stop' },
          description: '{minItems: 2, maxItems: 5}',
        },
        kind: { anyOf: [{ enum: ['a', 'b'] }, { type: 'null' }] },
      },
      required: ['days'],
      additionalProperties: false,
      $defs: {
        stop: {
          type: 'object',
          properties: { name: { type: 'string' } },
          additionalProperties: false,
        },
      },
    });
  });

  it('a schema for strict Claude output equals the one that Anthropic’s SDK makes', () => {
    expect(sorted(closedSchema(SCHEMA))).toEqual(sorted(transformJSONSchema(SCHEMA)));
  });

  it('a schema too large or too deep to close stays unchanged', () => {
    const wide = { type: 'object', properties: Object.fromEntries(members(10_001)) };
    expect(closedSchema(wide)).toBe(wide);
    let deep: object = { type: 'object' };
    for (let at = 0; at < 40; at++) deep = { type: 'array', items: deep };
    expect(closedSchema({ ...deep })).toEqual(deep);
  });
});

const members = (count: number) =>
  Array.from({ length: count }, (_, at) => [`m${at}`, { type: 'string' }] as const);

/** The SDK writes the bounds in another order. */
const sorted = (schema: unknown): unknown =>
  JSON.parse(
    JSON.stringify(schema, (key, value: unknown) =>
      key === 'description' && typeof value === 'string'
        ? value.replace(/\{(.*)\}$/, (_, told: string) => `{${told.split(', ').sort().join(', ')}}`)
        : value,
    ),
  );
