import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fillSchema, SchemaRefused } from '../../../../src/engines/guide/fill-schema.ts';
import { schemas } from '../../../support/schema-arbitrary.ts';

const NOW_MS = Date.UTC(2026, 10, 25, 9, 30);
const QUESTIONS = [
  '',
  'What is the weather in Paris tomorrow at 5pm, in celsius?',
  'Send 50 dollars to Bob, mail bob@example.com "hello there" https://example.com/a 10.0.0.1',
];

const fill = (schema: unknown, question = '', answer = '') =>
  fillSchema(schema, { question, answer, nowMs: NOW_MS });
const object = (properties: object, more: object = { required: Object.keys(properties) }) => ({
  type: 'object',
  properties,
  ...more,
});
const text = { type: 'string' };

const ajv = new Ajv2020({ strict: false });
addFormats.default(ajv);
const plain = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

describe('a schema that the guide fills', () => {
  it('the guide fills a schema with the same valid value each time, or refuses the schema', () => {
    let filled = 0;
    fc.assert(
      fc.property(schemas, fc.constantFrom(...QUESTIONS), (made, question) => {
        const schema = plain(made);
        try {
          const value = fill(schema, question);
          filled++;
          expect(ajv.validate(schema, value) ? '' : ajv.errorsText()).toBe('');
          expect(fill(schema, question)).toEqual(value);
        } catch (error) {
          if (!(error instanceof SchemaRefused)) throw error;
        }
      }),
      { numRuns: 100 },
    );
    expect(filled).toBeGreaterThan(40);
  });

  it.each<[string, object]>([
    ['definitions', { $defs: { n: object({ a: text }) }, $ref: '#/$defs/n' }],
    ['a list that ends in null', object({ next: { anyOf: [{ $ref: '#' }, { type: 'null' }] } })],
    ['a branch among members', { ...object({ a: text }), anyOf: [object({ b: { const: 1 } })] }],
    [
      'parts that count together',
      { allOf: [object({ a: text }), object({ b: { minimum: 5, type: 'integer' } })] },
    ],
    ['numbers between bounds', { type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 0.001 }],
    ['a multiple', { type: 'integer', multipleOf: 7, minimum: 100, maximum: 106 }],
    ['a list by place', { type: 'array', prefixItems: [text, { type: 'integer' }], items: false }],
    ['a list by place of draft 7', { type: 'array', items: [text], additionalItems: false }],
    ['a list of at least three', { type: 'array', items: { enum: ['x'] }, minItems: 3 }],
    ['a long text', { type: 'string', minLength: 300 }],
    ['nothing said', {}],
  ])('the guide fills a schema with %s', (_, schema) => {
    const value = fill(schema);
    if (!('items' in schema && Array.isArray(schema.items))) {
      expect([ajv.validate(schema, value), value]).toEqual([true, value]);
    }
    expect(value).toBeDefined();
  });

  it.each<[string, object, unknown]>([
    [
      'What is the weather in San Francisco in fahrenheit for 3 days?',
      object({
        city: text,
        unit: { enum: ['celsius', 'fahrenheit'] },
        days: { type: 'integer', minimum: 1 },
      }),
      { city: 'San Francisco', unit: 'fahrenheit', days: 3 },
    ],
    ['Fly from AMS to JFK', object({ from: text, to: text }), { from: 'AMS', to: 'JFK' }],
    ['add 12 and 30', object({ a: { type: 'number' }, b: { type: 'number' } }), { a: 12, b: 30 }],
    [
      'Email bob@example.com saying "Dinner at eight?"',
      object({ to: { type: 'string', format: 'email' }, body: text }),
      { to: 'bob@example.com', body: 'Dinner at eight?' },
    ],
    [
      'the code is AB-12',
      object({ code: { type: 'string', pattern: '^[A-Z]{2}-\\d\\d$' } }),
      { code: 'AB-12' },
    ],
    ['when', object({ on: { type: 'string', format: 'date' } }), { on: '2026-11-25' }],
    ['who is it', object({ query: text }), { query: 'who is it' }],
    [
      'hello',
      object({ lang: { type: 'string', default: 'en' }, on: { type: 'boolean', default: true } }),
      { lang: 'en', on: true },
    ],
    ['hello', object({ a: { type: ['string', 'null'] } }), { a: null }],
    ['hello', object({ a: text, b: text }, { required: [] }), {}],
  ])('the guide fills a schema with values from "%s"', (question, schema, value) => {
    expect(fill(schema, question)).toEqual(value);
  });

  it('the guide fills a schema’s answer members from its own answer', () => {
    const sum = object({ question: text, answer: text, sum: { type: 'number' } });
    expect(fill(sum, '2 + 3?', 'That is 5.')).toEqual({
      question: '2 + 3?',
      answer: 'That is 5.',
      sum: 5,
    });
  });
});

describe('a schema that the guide cannot fill', () => {
  it.each<[string, unknown, RegExp]>([
    [
      'bounds that cross',
      object({ age: { type: 'integer', minimum: 5, maximum: 3 } }),
      /no value that is known here at age$/,
    ],
    [
      'an item that cannot be',
      object({ list: { type: 'array', minItems: 1, items: false } }),
      /at list\[0\]$/,
    ],
    ['a member that is forbidden', { required: ['a'], additionalProperties: false }, /at a$/],
    [
      'a member that contains its own kind',
      object({ a: { $ref: '#' } }),
      /refers to itself without end/,
    ],
    ['a reference to itself', { $ref: '#' }, /refers to itself without end/],
    [
      'a reference to nothing',
      { $ref: '#/$defs/none' },
      /refers to something that it does not have/,
    ],
    ['a reference to another document', { $ref: 'https://example.com/a' }, /does not have/],
    ['a dynamic reference', { $dynamicRef: '#a' }, /\$dynamicRef", which is not understood/],
    ['a number for a schema', object({ a: 7 }), /something else where a schema belongs/],
    ['a text for a schema', 'text', /something else where a schema belongs/],
    [
      'a pattern that nothing asked fits',
      { type: 'string', pattern: '^[A-Z]{9}$' },
      /no value that is known/,
    ],
    [
      'a pattern that is none',
      { type: 'string', pattern: '(' },
      /cannot be read: .*regular expression/i,
    ],
    [
      'equal items that must differ',
      { type: 'array', uniqueItems: true, minItems: 2, items: { const: 1 } },
      /no value that is known/,
    ],
  ])(
    'a schema that the guide cannot fill is refused with the place of its fault: %s',
    (_, schema, message) => {
      expect(() => fill(schema)).toThrow(SchemaRefused);
      expect(() => fill(schema)).toThrow(message);
    },
  );

  let deep: object = { type: 'integer', minimum: 5, maximum: 3 };
  for (let i = 0; i < 24; i++) deep = { anyOf: ['a', 'b'].map((name) => object({ [name]: deep })) };
  it.each<[string, unknown]>([
    ['branches that double at each level', deep],
    ['a list of a billion', { type: 'array', items: text, minItems: 1e9 }],
    ['a text of a billion characters', { type: 'string', minLength: 1e9 }],
    ['a pattern that backtracks', { type: 'string', pattern: '^(a+)+$' }],
    [
      'ten thousand members',
      object(Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`p${i}`, text]))),
    ],
  ])('a schema that the guide cannot fill is given up in bounded time: %s', (_, schema) => {
    const started = process.cpuUsage();
    expect(() => fill(schema, `${'a'.repeat(40)}_`)).toThrow(SchemaRefused);
    expect(process.cpuUsage(started).user / 1_000).toBeLessThan(4_000);
  });
});
