import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { topMember } from '../../../../src/models/purchase/top-member.ts';

const KEY = Buffer.from('usage');
const find = (text: string, depth?: number): string | undefined => {
  const json = Buffer.from(text);
  const value = topMember(json, KEY, depth);
  return value && json.subarray(...value).toString('utf8');
};

describe('a member of the outermost object', () => {
  it('a member of the outermost object is found whatever its value and the members around it', () => {
    const spaces = fc.constantFrom('', ' ', '\n', ' \t\r\n');
    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), fc.jsonValue()),
        fc.jsonValue(),
        spaces,
        (others, value, gap) => {
          const { usage: _, ...rest } = others;
          const text = JSON.stringify(
            { ...rest, usage: value, last: { usage: 1 } },
            undefined,
            gap,
          );
          expect(JSON.parse(find(`data: ${text}\n\n`) ?? '')).toEqual(
            JSON.parse(JSON.stringify(value)),
          );
        },
      ),
    );
  });

  it('a member of an inner object, or a string with its name, is not taken for a member of the outermost object', () => {
    expect(find('{"a":{"usage":1},"b":["usage",{"usage":2}],"c":"usage"}')).toBeUndefined();
    expect(find('{"a":"\\"usage\\":1"}')).toBeUndefined();
    expect(find('"usage":7}', 1)).toBe('7');
  });

  it('the value of a member of the outermost object ends where cut-off bytes end', () => {
    for (const cut of ['{"usage":{"a":[1', '{"usage":"abc', '{"usage":tru']) {
      expect(find(cut)).toBe(cut.slice(9));
    }
  });
});
