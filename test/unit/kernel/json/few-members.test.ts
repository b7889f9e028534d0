import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { fewMembers } from '../../../../src/kernel/json/few-members.ts';

const Few = fewMembers(z.record(z.string().max(4), z.string()), 2, 'has two at most');

describe('a record of few members', () => {
  it('is read as the record that it is', () => {
    expect(Few.parse({ a: 'x', b: 'y' })).toEqual({ a: 'x', b: 'y' });
    const { error } = Few.safeParse({ a: 1 });
    expect(error?.issues).toMatchObject([{ path: ['a'], code: 'invalid_type' }]);
    for (const other of [undefined, null, 'x', 7]) expect(Few.safeParse(other).success).toBe(false);
  });

  it('is refused with one word where it has more, whatever they are', () => {
    const many = Object.fromEntries(Array.from({ length: 24_000 }, (_, i) => [`key${i}`, null]));
    expect(Few.safeParse(many).error?.issues).toMatchObject([
      { path: [], message: 'has two at most' },
    ]);
  });

  it('is described as the record', () => {
    expect(z.toJSONSchema(z.object({ few: Few }), { io: 'input' }).properties).toMatchObject({
      few: { type: 'object', additionalProperties: { type: 'string' } },
    });
  });
});
