import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cutList, joinList } from '../../../../../src/models/providers/local/cut-list.ts';

const cut = (text: string) => cutList(Buffer.from(text));
const itemsOf = async (text: string) => (await cut(text))?.items.map(String);

describe('a list that is cut without being read', () => {
  it('the list cutter splits a JSON list into its elements and the text around them', async () => {
    const text = '{ "object":"list", "data" : [ {"a":[1,2]} , {"b":{}} ], "usage":{"n":1} }';
    const pieces = await cut(text);
    expect(String(pieces?.head)).toBe('{ "object":"list", "data" : [');
    expect(pieces?.items.map(String)).toEqual(['{"a":[1,2]}', '{"b":{}}']);
    expect(String(pieces?.tail)).toBe('], "usage":{"n":1} }');
  });

  it('the list cutter ignores keys and brackets inside strings and in nested objects', async () => {
    expect(
      await itemsOf('{"x":"\\"data\\":[{}]","y":{"data":[{}]},"data":[{"z":"]}\\\\"}]}'),
    ).toEqual(['{"z":"]}\\\\"}']);
    expect(await itemsOf('{"a":"data","b":[{}],"data":[]}')).toEqual([]);
  });

  it('the list cutter finds no list when the member is missing or the text is cut off', async () => {
    for (const none of ['', '[]', '{}', '{"date":[{}]}', '{"data":[{}', '{"data":"[]"}', '"data']) {
      expect(await cut(none)).toBeUndefined();
    }
  });

  it('the list cutter finds the elements that a parser finds, and joins them again', async () => {
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

  it('the list cutter yields to the event loop during a long list', async () => {
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
