import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { admits } from '../../../../../src/engines/guide/schema/admits.ts';
import { fillSchema } from '../../../../../src/engines/guide/schema/fill-schema.ts';
import { readQuestion } from '../../../../../src/engines/guide/schema/question-words.ts';
import { SchemaRoot } from '../../../../../src/engines/guide/schema/schema-root.ts';
import { SchemaRefused } from '../../../../../src/engines/guide/schema/schema-work.ts';
import { schemas } from '../../../../support/schema-arbitrary.ts';

const NOW_MS = Date.UTC(2026, 10, 25, 9, 30);
const QUESTIONS = [
  '',
  'What is the weather in Paris tomorrow at 5pm, in celsius?',
  'Send 50 dollars to Bob, mail bob@example.com "hello there" https://example.com/a 10.0.0.1',
];

const fill = (schema: unknown, question = '', answer = '') =>
  fillSchema(schema, readQuestion(question, answer, NOW_MS));
const object = (properties: object, more: object = { required: Object.keys(properties) }) => ({
  ...{ type: 'object', properties },
  ...more,
});
const text = { type: 'string' };

const ajv = new Ajv2020({ strict: false });
addFormats.default(ajv);
const plain = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

describe('a schema that is filled in', () => {
  it('is satisfied, whatever it is made of, as another validator has it', () => {
    fc.assert(
      fc.property(schemas, fc.constantFrom(...QUESTIONS), (made, question) => {
        const schema = plain(made);
        const value = fill(schema, question);
        expect(ajv.validate(schema, value) ? '' : ajv.errorsText()).toBe('');
        expect(fill(schema, question)).toEqual(value);
      }),
      { numRuns: 15 },
    );
  });

  it('is judged as another validator judges it', () => {
    fc.assert(
      fc.property(schemas, fc.jsonValue({ maxDepth: 2 }), (made, value) => {
        const schema = plain(made);
        if (admits(new SchemaRoot(schema), schema, value)) {
          expect(ajv.validate(schema, value) ? '' : ajv.errorsText()).toBe('');
        }
      }),
      { numRuns: 15 },
    );
  });

  it('has what the grammar above has not, too', () => {
    const tree = object({
      value: { type: 'integer' },
      kids: { type: 'array', items: { $ref: '#/$defs/n' } },
    });
    const cases: object[] = [
      { $defs: { n: tree }, $ref: '#/$defs/n' },
      object({ next: { anyOf: [{ $ref: '#' }, { type: 'null' }] } }),
      { ...object({ a: text }), unevaluatedProperties: false, allOf: [object({ b: text })] },
      { type: 'object', minProperties: 3, propertyNames: { pattern: '^x_' } },
      {
        type: 'object',
        patternProperties: { '^n\\d$': { type: 'integer' } },
        minProperties: 2,
        additionalProperties: false,
      },
      {
        type: 'array',
        contains: { const: 7 },
        minContains: 2,
        items: { type: 'integer' },
        maxItems: 4,
      },
      {
        type: 'array',
        uniqueItems: true,
        minItems: 5,
        items: object({ id: { type: 'integer' }, kind: { const: 'x' } }),
      },
      { oneOf: [{ type: 'integer' }, { type: 'number' }] },
      { oneOf: [{ required: ['a'] }, { required: ['b'] }], ...object({ a: text, b: text }, {}) },
      { type: 'string', minLength: 3, not: { enum: ['text'] } },
      { type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 0.001 },
      { type: 'integer', multipleOf: 7, minimum: 100, maximum: 106 },
      { ...object({ a: text }), dependentRequired: { a: ['b'] } },
      { ...object({ a: text }), dependentSchemas: { a: object({ c: { minimum: 5 } }) } },
      { enum: [{ a: [1, { b: null }] }] },
      {
        $anchor: 'top',
        type: 'object',
        properties: { a: { $ref: '#t' } },
        required: ['a'],
        $defs: { t: { $anchor: 't', const: 1 } },
      },
    ];
    for (const schema of cases) {
      const value = fill(schema);
      expect([ajv.validate(schema, value), schema, value]).toEqual([true, schema, value]);
    }
    expect(fill(true)).toBeDefined();
    expect(fill({})).toBeDefined();
  });

  it('takes its values from the words of the question where they fit', () => {
    const unit = { enum: ['celsius', 'fahrenheit'] };
    const code = { type: 'string', pattern: '^[A-Z]{3}$' };
    const cases: [string, object, unknown][] = [
      [
        'What is the weather in San Francisco in fahrenheit for 3 days?',
        object({ city: text, unit, days: { type: 'integer', minimum: 1 } }, { required: ['city'] }),
        { city: 'San Francisco', unit: 'fahrenheit', days: 3 },
      ],
      ['weather in paris tomorrow', object({ location: text }), { location: 'paris' }],
      ['Report on Paris in json', object({ city: text }), { city: 'Paris' }],
      [
        'Book a flight from AMS to JFK on March 3 for two passengers',
        object({
          from: code,
          to: code,
          date: { type: 'string', format: 'date' },
          passengers: { type: 'integer' },
        }),
        { from: 'AMS', to: 'JFK', date: '2026-03-03', passengers: 2 },
      ],
      [
        'Email bob@example.com saying "Dinner at eight?" and mark it urgent',
        object({
          to: { type: 'string', format: 'email' },
          body: text,
          urgent: { type: 'boolean' },
        }),
        { to: 'bob@example.com', body: 'Dinner at eight?', urgent: true },
      ],
      [
        'Transfer 49.99 EUR to Alice Smith',
        object({ amount: { type: 'number' }, recipient: text, currency: { enum: ['USD', 'EUR'] } }),
        { amount: 49.99, recipient: 'Alice Smith', currency: 'EUR' },
      ],
      [
        'Schedule a meeting called Planning tomorrow at 3pm',
        object({ title: text, start: { type: 'string', format: 'date-time' } }),
        { title: 'Planning', start: '2026-11-26T15:00:00Z' },
      ],
      ['Compare Paris', object({ cities: { type: 'array', items: text } }), { cities: ['Paris'] }],
      [
        'weather in Paris and in Rome',
        object({ cities: { type: 'array', items: text } }),
        { cities: ['Paris', 'Rome'] },
      ],
      ['add 12 and 30', object({ a: { type: 'number' }, b: { type: 'number' } }), { a: 12, b: 30 }],
      [
        'please refund order 1234',
        {
          oneOf: ['cancel', 'refund'].map((kind) =>
            object({ kind: { const: kind }, order: { type: 'integer' } }),
          ),
        },
        { kind: 'refund', order: 1234 },
      ],
      [
        'weather in Oslo',
        object({ city: text, unit: { type: ['string', 'null'], enum: ['c', 'f', null] } }),
        { city: 'Oslo', unit: null },
      ],
      [
        'hello',
        object({ lang: { type: 'string', default: 'en' }, on: { type: 'boolean', default: true } }),
        { lang: 'en', on: true },
      ],
      ['do not notify her', object({ notify: { type: 'boolean' } }), { notify: false }],
    ];
    for (const [question, schema, value] of cases) expect(fill(schema, question)).toEqual(value);
    const sum = object({ question: text, answer: text, sum: { type: 'number' } });
    expect(fill(sum, '2 + 3?', 'That is 5.')).toEqual({
      ...{ question: '2 + 3?', answer: 'That is 5.', sum: 5 },
    });
  });
});

describe('a schema that has no value', () => {
  it('is refused with the place, and one that is not understood with the reason', () => {
    const cases: [unknown, RegExp][] = [
      [
        object({ age: { type: 'integer', minimum: 5, maximum: 3 } }),
        /no value that is known here at age$/,
      ],
      [object({ list: { type: 'array', minItems: 1, items: false } }), /at list\[0\]$/],
      [{ ...object({}), required: ['a'], additionalProperties: false }, /at a$/],
      [object({ a: { $ref: '#' } }), /no value that is known/],
      [{ $ref: '#' }, /refers to itself without end/],
      [{ $ref: '#/$defs/none' }, /refers to something that it does not have/],
      [{ $ref: 'https://example.com/a' }, /refers to something outside of it/],
      [{ unevaluatedItems: false }, /unevaluatedItems, which is not understood/],
      [object({ a: 7 }), /something else where a schema belongs/],
      ['text', /something else where a schema belongs/],
      [{ type: 'string', pattern: '(?<=a)b' }, /a pattern that is not understood/],
    ];
    for (const [schema, message] of cases) {
      expect(() => fill(schema), String(message)).toThrow(SchemaRefused);
      expect(() => fill(schema)).toThrow(message);
    }
  });

  it('is given up after so much work, however it was made', () => {
    const choice = (i: number) => ({
      anyOf: ['integer', 'string'].map((type) => ({ properties: { [`p${i}`]: { type } } })),
    });
    let deep: object = { type: 'integer', minimum: 5, maximum: 3 };
    for (let i = 0; i < 24; i++)
      deep = { anyOf: ['a', 'b'].map((name) => object({ [name]: deep })) };
    const evil = [
      { allOf: Array.from({ length: 30 }, (_, i) => choice(i)), not: {} },
      deep,
      { type: 'array', items: text, minItems: 1e9 },
      { type: 'string', minLength: 1e9 },
      { type: 'string', pattern: '^(a+)+$', minLength: 30, not: { pattern: 'a' } },
      object(Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`p${i}`, text]))),
    ];
    for (const schema of evil) {
      const started = performance.now();
      expect(() => fill(schema, 'a '.repeat(500))).toThrow(SchemaRefused);
      expect(performance.now() - started).toBeLessThan(4_000);
    }
  });
});
