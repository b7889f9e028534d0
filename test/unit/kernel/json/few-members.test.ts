import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { fewMembers } from '../../../../src/kernel/json/few-members.ts';

const Few = fewMembers(z.record(z.string().max(4), z.string()), 2, 'has two at most');

describe('a record of few members', () => {
  it('a record with few members is parsed like the plain record', () => {
    expect(Few.parse({ a: 'x', b: 'y' })).toEqual({ a: 'x', b: 'y' });
    const { error } = Few.safeParse({ a: 1 });
    expect(error?.issues).toMatchObject([{ path: ['a'], code: 'invalid_type' }]);
    for (const other of [undefined, null, 'x', 7]) expect(Few.safeParse(other).success).toBe(false);
  });

  it('a record with too many members is refused with one issue, however many members are too many', () => {
    const many = Object.fromEntries(Array.from({ length: 24_000 }, (_, i) => [`key${i}`, null]));
    expect(Few.safeParse(many).error?.issues).toMatchObject([
      { path: [], message: 'has two at most' },
    ]);
  });

  it('a record with few members is described like the plain record', () => {
    expect(z.toJSONSchema(z.object({ few: Few }), { io: 'input' }).properties).toMatchObject({
      few: { type: 'object', additionalProperties: { type: 'string' } },
    });
  });
});
