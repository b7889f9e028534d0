import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cutList, joinList } from '../../../../../src/models/providers/local/cut-list.ts';

const cut = (text: string) => cutList(Buffer.from(text));
const itemsOf = async (text: string) => (await cut(text))?.items.map(String);

describe('a list that is cut without being read', () => {
  it('comes out as its elements and what stands around them', async () => {
    const text = '{ "object":"list", "data" : [ {"a":[1,2]} , {"b":{}} ], "usage":{"n":1} }';
    const pieces = await cut(text);
    expect(String(pieces?.head)).toBe('{ "object":"list", "data" : [');
    expect(pieces?.items.map(String)).toEqual(['{"a":[1,2]}', '{"b":{}}']);
    expect(String(pieces?.tail)).toBe('], "usage":{"n":1} }');
  });

  it('is not fooled by keys and brackets inside of texts, or by keys further down', async () => {
    expect(
      await itemsOf('{"x":"\\"data\\":[{}]","y":{"data":[{}]},"data":[{"z":"]}\\\\"}]}'),
    ).toEqual(['{"z":"]}\\\\"}']);
    expect(await itemsOf('{"a":"data","b":[{}],"data":[]}')).toEqual([]);
  });

  it('is none where the member is missing or the text is cut off', async () => {
    for (const none of ['', '[]', '{}', '{"date":[{}]}', '{"data":[{}', '{"data":"[]"}', '"data']) {
      expect(await cut(none)).toBeUndefined();
    }
  });

  it('has the elements that a parser finds, whatever they are, and joins again', async () => {
    const object = fc.dictionary(fc.string(), fc.jsonValue());
    const list = fc.record({
      before: fc.jsonValue(),
      data: fc.array(object),
      after: fc.jsonValue(),
    });
    await fc.assert(
      fc.asyncProperty(list, fc.constantFrom(undefined, 1), async (value, indent) => {
        const pieces = await cut(JSON.stringify(value, null, indent));
        const parsed = pieces?.items.map((item) => JSON.parse(String(item)));
        const written = JSON.parse(JSON.stringify(value));
        expect(parsed).toEqual(written.data);
        if (pieces !== undefined) expect(JSON.parse(String(joinList(pieces)))).toEqual(written);
      }),
    );
  });

  it('lets others run while it is long', async () => {
    let others = 0;
    const other = () => {
      others++;
      setImmediate(other);
    };
    setImmediate(other);
    const numbers = Array.from({ length: 100_000 }, () => 0.123456);
    await cut(JSON.stringify({ data: [{ embedding: numbers }] }));
    expect(others).toBeGreaterThan(5);
  });
});
