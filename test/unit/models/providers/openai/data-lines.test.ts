import { describe, expect, it } from 'vitest';
import { dataLines } from '../../../../../src/models/providers/openai/data-lines.ts';

const of = (event: string) => dataLines(Buffer.from(event))?.toString();

describe('the data of an event of an upstream', () => {
  it.each(['data: {"a":1}\n\n', 'data: {"a":1}\r\n\r\n', 'data:{"a":1}\n\n', 'data: [DONE]\n\n'])(
    'an upstream event of nothing but data is passed on byte for byte: %j',
    (event) => {
      const bytes = Buffer.from(event);
      expect(dataLines(bytes)).toBe(bytes);
    },
  );

  it.each([
    ['an event name', 'event: error\ndata: 1\n\n', 'data: 1\n\n'],
    ['an id and a delay', 'id: 7\nretry: 1\ndata: 1\n\n', 'data: 1\n\n'],
    ['a forged price', ': svc-cost-usdc=0\ndata: 1\n\n', 'data: 1\n\n'],
    ['a forged price behind', 'data: 1\n: svc-cost-usdc=0\n\n', 'data: 1\n\n'],
    ['one behind a return alone', 'data: 1\r: svc-cost-usdc=0\n\n', 'data: 1\n\n'],
    ['one behind a return and a blank line', 'data: 1\r\r: svc-cost-usdc=0\n\n', 'data: 1\n\n'],
    ['several lines of data', 'data: {\nevent: x\ndata: }\n\n', 'data: {  }\n\n'],
  ])('an upstream event loses %s', (_what, event, left) => {
    expect(of(event)).toBe(left);
  });

  it('an upstream event of comments alone becomes an empty comment, and one without data is dropped', () => {
    expect(of(': svc-cost-usdc=0\n\n')).toBe(':\n\n');
    expect(of('event: x\r\nid: 7\r\n\r\n')).toBeUndefined();
    expect(of('\n')).toBeUndefined();
  });
});
