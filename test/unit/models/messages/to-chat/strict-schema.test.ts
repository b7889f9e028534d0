import { describe, expect, it } from 'vitest';
import { MODEL_LIMITS } from '../../../../../src/models/limits.ts';
import { MessagesRequest } from '../../../../../src/models/messages/messages-request.ts';
import { mayBeStrict } from '../../../../../src/models/messages/to-chat/strict-schema.ts';
import { translateToChat } from '../../../../../src/models/messages/to-chat/translate-request.ts';
import { schemaRoom } from '../../../../../src/models/providers/fit/object-schema.ts';

const text = { type: 'string' };
const closed = (properties: object, required = Object.keys(properties)) => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
});
const optional = closed({ a: text, b: text }, ['a']);

describe('a schema that OpenAI is asked to keep to strictly', () => {
  it.each<[string, object]>([
    ['requires all its properties', closed({ a: text, b: { type: ['integer', 'null'] } })],
    ['has closed objects in it', closed({ a: closed({ b: text }) })],
    ['has closed items', closed({ a: { type: 'array', items: closed({ b: text }) } })],
    ['has closed choices', closed({ a: { anyOf: [closed({}), { enum: ['x'] }] } })],
    ['refers to closed definitions', { $ref: '#/$defs/a', $defs: { a: closed({ b: text }) } }],
    ['calls a property by a keyword', closed({ not: text, items: text, properties: text })],
  ])('a schema that %s can be strict at OpenAI', (_, schema) =>
    expect(mayBeStrict(schema as never)).toBe(true),
  );

  const deep = (levels: number): object => (levels === 0 ? text : { anyOf: [deep(levels - 1)] });
  const { depth, parts } = MODEL_LIMITS.chat.strictSchema;
  it.each<[string, object]>([
    ['has an optional property', optional],
    ['requires nothing', { type: 'object', properties: { a: text }, additionalProperties: false }],
    ['is open', { ...closed({ a: text }), additionalProperties: undefined }],
    ['has further properties by a schema', { ...closed({ a: text }), additionalProperties: text }],
    ['has an optional property in an object of it', closed({ a: optional })],
    ['has one in items', closed({ a: { type: 'array', items: optional } })],
    ['has one in a choice', closed({ a: { anyOf: [text, optional] } })],
    [
      'has one in a definition',
      { ...closed({ a: { $ref: '#/$defs/a' } }), $defs: { a: optional } },
    ],
    [
      'has one in an object that may be null',
      closed({ a: { ...optional, type: ['object', 'null'] } }),
    ],
    ['allows any value', closed({ a: {} })],
    ['combines schemas as strict ones may not', closed({ a: { allOf: [text] } })],
    ['is no schema in one place', closed({ a: true })],
    ['is deeper than it is looked through', closed({ a: deep(depth) })],
    ['is larger than that', { anyOf: Array.from({ length: parts }, () => text) }],
  ])('a schema that %s cannot be strict at OpenAI', (_, schema) =>
    expect(mayBeStrict(schema as never)).toBe(false),
  );

  it('a request’s schemas are checked for strictness up to a limit over all its tools', () => {
    const room = schemaRoom();
    const schema = closed({ a: text, b: text }) as never;
    let taken = 0;
    while (mayBeStrict(schema, room)) taken++;
    expect(taken).toBe(Math.floor(parts / 5));
  });

  it('an answer format or requested strict tool is strict in chat only when its schema can be', () => {
    const of = (schema: object, strict?: boolean) => {
      const { response_format: format, tools } = translateToChat(
        MessagesRequest.parse({
          model: 'a/b',
          max_tokens: 10,
          messages: [{ role: 'user', content: 'hi' }],
          tools: [{ name: 'f', input_schema: schema, strict }],
          output_config: { format: { type: 'json_schema', schema } },
        }),
      ) as never as {
        response_format: { json_schema: { strict: boolean } };
        tools: [{ function: { strict?: boolean } }];
      };
      return [format.json_schema.strict, tools[0].function.strict];
    };
    expect(of(closed({ a: text }), true)).toEqual([true, true]);
    expect(of(closed({ a: text }))).toEqual([true, undefined]);
    expect(of(optional, true)).toEqual([false, false]);
  });
});
