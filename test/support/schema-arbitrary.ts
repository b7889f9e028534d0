import fc from 'fast-check';

type Schema = Record<string, unknown>;

const FORMATS = [
  'date',
  'date-time',
  'time',
  'email',
  'uuid',
  'uri',
  'ipv4',
  'ipv6',
  'hostname',
  'duration',
  'uri-reference',
  'json-pointer',
  'regex',
];
const PATTERNS = [
  '^[A-Z]{3}$',
  '^\\d{5}(-\\d{4})?$',
  'ab+c',
  '^(red|green|blue)-[0-9a-f]{2,}$',
  '^[^aeiou]+$',
  '^(?=.*\\d)(?=.*[a-z]).{6,}$',
  '^#?([a-f0-9]{6}|[a-f0-9]{3})$',
  '^\\p{Lu}\\S*$',
  '^\\+[1-9]\\d{6,14}$',
  '(^a|b$)',
  '^[\\w.-]+@[\\w-]+\\.[a-z]{2,}$',
  '^(?!x)[x-z]{2}$',
];
const NAMES = ['city', 'count', 'startDate', 'email', 'kind', 'tags', 'note'];

const without = (schema: Schema): Schema =>
  Object.fromEntries(Object.entries(schema).filter(([, value]) => value !== undefined));
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });

const text = fc.oneof(
  fc.record({ least: fc.nat(12), room: maybe(fc.nat(12)) }).map(({ least, room }) => ({
    type: 'string',
    minLength: least,
    ...(room === undefined ? {} : { maxLength: least + room }),
  })),
  fc.constantFrom(...FORMATS).map((format) => ({ type: 'string', format })),
  fc.constantFrom(...PATTERNS).map((pattern) => ({ type: 'string', pattern })),
);

const number = fc
  .record({
    type: fc.constantFrom('integer', 'number'),
    least: fc.integer({ min: -50, max: 50 }),
    room: fc.integer({ min: 2, max: 40 }),
    isOpen: fc.boolean(),
    multipleOf: maybe(fc.constantFrom(1, 2, 0.5)),
  })
  .map(({ isOpen, least, multipleOf, room, type }) =>
    without({
      type,
      multipleOf,
      ...(isOpen
        ? { exclusiveMinimum: least, exclusiveMaximum: least + room * 2 }
        : { minimum: least, maximum: least + room }),
    }),
  );

const constant = fc.oneof(
  fc
    .uniqueArray(fc.constantFrom('small', 'large', 7, null, true), { minLength: 1 })
    .map((list) => ({
      enum: list,
    })),
  fc.constantFrom('a', 1, null, false, [1], { a: 1 }).map((value) => ({ const: value })),
  fc.constantFrom('boolean', 'null').map((type) => ({ type })),
);

/** Schemas that some value satisfies, of all that is written in them. */
export const schemas: fc.Arbitrary<Schema> = fc.letrec<{ node: Schema }>((tie) => {
  const node = tie('node');
  const object = fc
    .uniqueArray(fc.tuple(fc.constantFrom(...NAMES), node, fc.boolean()), {
      selector: ([name]) => name,
    })
    .chain((members) =>
      fc.record({
        type: fc.constant('object'),
        properties: fc.constant(Object.fromEntries(members.map(([name, one]) => [name, one]))),
        required: fc.constant(members.filter(([, , must]) => must).map(([name]) => name)),
        additionalProperties: fc.constantFrom(true, false),
        minProperties: fc.constant(members.length > 0 ? 1 : 0),
      }),
    );
  const list = fc
    .record({ items: node, least: fc.nat(2), room: maybe(fc.nat(3)) })
    .map(({ items, least, room }) =>
      without({
        type: 'array',
        items,
        minItems: least,
        maxItems: room === undefined ? undefined : least + room,
      }),
    );
  const unique = fc.oneof(text, number).map((items) => ({
    type: 'array',
    uniqueItems: true,
    minItems: 2,
    items: { ...items, multipleOf: undefined, maxLength: undefined, minLength: undefined },
  }));
  const tuple = fc.array(node, { minLength: 1, maxLength: 3 }).map((prefixItems) => ({
    type: 'array',
    prefixItems,
    minItems: prefixItems.length,
    items: false,
  }));
  const choice = fc
    .tuple(fc.constantFrom('anyOf', 'oneOf'), fc.array(node, { minLength: 1, maxLength: 2 }))
    .map(([word, branches]) =>
      // Of several that may all fit one is told from the other by what it is.
      word === 'anyOf'
        ? { anyOf: branches }
        : {
            oneOf: branches.map((branch, i) => ({
              type: 'object',
              required: ['kind', 'value'],
              properties: { kind: { const: `kind${i}` }, value: branch },
            })),
          },
    );
  const all = object.map((one) => ({
    allOf: [
      { type: 'object', required: ['extra'] },
      { ...one, additionalProperties: true },
    ],
    properties: { extra: { type: 'integer', minimum: 3 } },
  }));
  const conditional = fc.tuple(node, node).map(([a, b]) => ({
    type: 'object',
    required: ['mode', 'value'],
    properties: { mode: { enum: ['x', 'y'] } },
    if: { properties: { mode: { const: 'x' } } },
    // biome-ignore lint/suspicious/noThenProperty: it is a word of the dialect
    then: { properties: { value: a } },
    else: { properties: { value: b } },
  }));
  const nullable = fc.oneof(text, number).map((one) => ({
    ...one,
    type: [(one as Schema).type, 'null'],
  }));
  return {
    node: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      text,
      number,
      constant,
      nullable,
      unique,
      object,
      list,
      tuple,
      choice,
      all,
      conditional,
    ) as fc.Arbitrary<Schema>,
  };
}).node;
