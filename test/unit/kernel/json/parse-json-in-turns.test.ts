import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JsonTooComplex } from '../../../../src/kernel/json/parse-json.ts';
import { parseJsonInTurns } from '../../../../src/kernel/json/parse-json-in-turns.ts';

const BOUNDS = { depth: 64, values: 2_000_000, members: 2_000_000 };
const parse = (text: string) => parseJsonInTurns(Buffer.from(text), BOUNDS);
/** More than is built in one turn. */
const LONG = 'x'.repeat(70_000);

describe('large JSON', () => {
  it('large JSON is parsed to the value of JSON.parse, however it is nested', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.json(), { maxLength: 8 }),
        fc.boolean(),
        async (texts, isList) => {
          const long = JSON.stringify(LONG);
          const parts = [long, ...texts, long, ...texts];
          const text = isList
            ? `[ ${parts.join(' ,\n')}]`
            : ` {${parts.map((part, i) => `"k\\"${i % 5}:" : [${part}, {"a":${part}}]`).join(',')} }\n`;
          expect(await parse(text)).toEqual(JSON.parse(text));
        },
      ),
      { numRuns: 20 },
    );
  });

  it('large JSON keeps members of every name, and the last of two members with one name', async () => {
    const text = `{"__proto__":{"a":"${LONG}"},"b":1,"b":["${LONG}"],"":${JSON.stringify(LONG)}}`;
    const value = (await parse(text)) as object;
    expect(JSON.stringify(value)).toBe(JSON.stringify(JSON.parse(text)));
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
  });

  it.each([
    '[L,]',
    '[,L]',
    '[L,,1]',
    '[L}',
    '{"a":L',
    '{"a":L,}',
    '{"a" L}',
    '{L:}',
    '{a:L}',
    '{"a":}L',
    '[L] 1',
    '[L]]',
    '{"a":1 "b":L}',
    '{"a":L]',
    '{"a":{"b":L}',
    '[L',
    '[L 1]',
    '{"a" b:L}',
    '{:L}',
    '[1}L]',
    '[[L,],1]',
    '{L}',
    'L L',
  ])('large JSON that is invalid is refused: %s', async (shape) => {
    const text = shape.replaceAll('L', JSON.stringify(LONG));
    expect(() => JSON.parse(text)).toThrow(SyntaxError);
    await expect(parse(text)).rejects.toThrow(SyntaxError);
  });

  it('large JSON may be an empty list with many blanks, and is refused beyond its limits', async () => {
    expect(await parse(`[${' '.repeat(70_000)}]`)).toEqual([]);
    const many = Buffer.from(`[${'1,'.repeat(40_000)}1]`);
    await expect(parseJsonInTurns(many, { ...BOUNDS, values: 9 })).rejects.toThrow(JsonTooComplex);
  });
});
