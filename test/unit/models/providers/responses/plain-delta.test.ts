import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readPlainDelta } from '../../../../../src/models/providers/responses/plain-delta.ts';

const TYPE = 'response.output_text.delta';
const eventOf = (data: object | string, end = '\n\n') =>
  Buffer.from(`data: ${typeof data === 'string' ? data : JSON.stringify(data)}${end}`);
const within = { item_id: 'msg_1', output_index: 0, content_index: 0 };

describe('a delta that is read off its bytes', () => {
  it('a plain Responses delta read from its bytes equals the parsed one, and other texts are left to the parser', () => {
    fc.assert(
      fc.property(fc.string(), fc.nat(999_999_999), (delta, sequence_number) => {
        const more = { delta, logprobs: [], sequence_number, obfuscation: 'x' };
        const read = readPlainDelta(eventOf({ type: TYPE, ...within, ...more }));
        const isPlain = /^[ !#-[\]-\x7f]*$/.test(delta);
        const told = { type: TYPE, sequence: sequence_number, chars: delta.length };
        expect(read).toEqual(isPlain ? { ...told, start: expect.any(Number) } : undefined);
        if (read === undefined) return;
      }),
    );
    expect(
      readPlainDelta(eventOf({ type: TYPE, sequence_number: 7, delta: 'ab' }, '\r\n\r\n')),
    ).toEqual({ type: TYPE, sequence: 7, chars: 2, start: 72 });
  });

  it.each([
    ['of another type', { type: 'response.output_text.done', delta: 'a', sequence_number: 1 }],
    ['whose type comes later', { delta: 'a', type: TYPE, sequence_number: 1 }],
    ['without a number', { type: TYPE, delta: 'a' }],
    ['without a text', { type: TYPE, sequence_number: 1 }],
    ['whose text is none', { type: TYPE, delta: 5, sequence_number: 1 }],
    ['whose number is none', { type: TYPE, delta: 'a', sequence_number: -1 }],
    ['with a longer number than any', { type: TYPE, delta: 'a', sequence_number: 1e10 }],
    ['with a response', { type: TYPE, delta: 'a', sequence_number: 1, response: {} }],
    ['that ends as another', `{"type":"${TYPE}","delta":"a","sequence_number":1,"type":"error"}`],
    ['with two texts', `{"type":"${TYPE}","delta":"a","sequence_number":1,"delta":"bcd"}`],
    ['with two numbers', `{"type":"${TYPE}","delta":"a","sequence_number":1,"sequence_number":2}`],
    ['that is cut off', `{"type":"${TYPE}","sequence_number":1,"delta":"a`],
    [
      'whose type has a line of its own',
      `{"type":"${TYPE}\\n.delta","delta":"a","sequence_number":1}`,
    ],
  ])('a Responses event is not read as a plain delta when it is one %s', (_, data) =>
    expect(readPlainDelta(eventOf(data))).toBeUndefined(),
  );
});
