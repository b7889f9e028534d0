import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  withMembers,
  writeJsonInTurns,
  writeWhole,
} from '../../../../src/kernel/json/write-json.ts';

async function written(value: unknown): Promise<string> {
  const text = Buffer.concat([...(await writeJsonInTurns(value))]).toString();
  expect((await writeWhole(value)).toString()).toBe(text);
  return text;
}

describe('JSON that is written in turns', () => {
  it('JSON that is written in event-loop turns equals JSON.stringify', async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue(), fc.boolean(), async (part, isList) => {
        const many = Array.from({ length: 1_000 }, () => ({ part, é: '"' }));
        const value = isList
          ? [part, many, [], [[many]]]
          : { a: part, '"': many, none: undefined, c: {}, d: { many } };
        expect(await written(value)).toBe(JSON.stringify(value));
      }),
      { numRuns: 8 },
    );
    for (const value of [null, 1, 'a', [], {}]) {
      expect(await written(value)).toBe(JSON.stringify(value));
    }
  });

  it('JSON that is written in event-loop turns appends further members to those of an object, short or long', async () => {
    const short = { a: 'é"', none: undefined, b: [{}] };
    const long = { ...short, words: Array.from({ length: 9_000 }, (_, at) => ({ at })) };
    for (const object of [short, long]) {
      for (const more of [{}, { ä: 'ö', c: { d: [] } }]) {
        const members = JSON.stringify(more).slice(1, -1);
        const told = (await writeWhole(object, members)).toString();
        expect(told).toBe(JSON.stringify({ ...object, ...more }));
        expect(withMembers(JSON.stringify(object), members)).toBe(told);
      }
    }
  });

  it('JSON that is written in event-loop turns has null for undefined in a long list', async () => {
    const list = Array.from({ length: 9_000 }, (_, i) => (i % 2 === 0 ? i : undefined));
    expect(await written(list)).toBe(JSON.stringify(list));
  });

  it('JSON that is written in event-loop turns comes in short pieces', async () => {
    const words = Array.from({ length: 20_000 }, (_, i) => ({ text: 'word', start: i, end: i }));
    const pieces = await writeJsonInTurns({ words });
    expect(pieces.length).toBeGreaterThan(15);
    expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(64 * 1024);
  });
});
