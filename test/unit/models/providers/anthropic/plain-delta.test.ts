import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readPlainDelta } from '../../../../../src/models/providers/anthropic/plain-delta.ts';

const eventOf = (data: object | string, end = '\n\n') =>
  Buffer.from(`data: ${typeof data === 'string' ? data : JSON.stringify(data)}${end}`);
const deltaOf = (delta: object, index = 0) => ({ type: 'content_block_delta', index, delta });

describe('a delta of a message that is read off its bytes', () => {
  it.each([
    ['text_delta', 'text'],
    ['thinking_delta', 'thinking'],
    ['input_json_delta', 'partial_json'],
  ])(
    'a plain Anthropic delta’s text and block read from its bytes equal the parsed ones: %s',
    (type, name) => {
      fc.assert(
        fc.property(fc.string(), fc.nat(1_000), (text, index) => {
          const isPlain = /^[ !#-[\]-\x7f]*$/.test(text);
          const event = eventOf(deltaOf({ type, [name]: text }, index));
          const read = readPlainDelta(event);
          expect(read?.chars).toBe(isPlain ? text.length : undefined);
          if (read === undefined) return;
          const { chars, start } = read;
          expect(event.toString('latin1', start, start + chars)).toBe(text);
          expect(read).toMatchObject({ type, index });
        }),
      );
    },
  );

  it.each([
    ['of another kind', { type: 'content_block_stop', index: 0 }],
    ['with a signature', deltaOf({ type: 'signature_delta', signature: 'abc' })],
    ['with more members', { ...deltaOf({ type: 'text_delta', text: 'a' }), more: 1 }],
    ['with more in its delta', deltaOf({ type: 'text_delta', text: 'a', more: 'b' })],
    ['without a number', '{"type":"content_block_delta","index":,"delta":{}}'],
    [
      'that is cut off',
      '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a',
    ],
  ])('an Anthropic event %s is not read as a plain delta', (_, data) =>
    expect(readPlainDelta(eventOf(data))).toBeUndefined(),
  );

  it('an Anthropic delta with carriage returns is left to the parser', () => {
    const event = eventOf(deltaOf({ type: 'text_delta', text: 'a' }), '\r\n\r\n');
    expect(readPlainDelta(event)).toBeUndefined();
  });
});
