import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  copyDigits,
  digitsOf,
  findOdd,
  parseDigits,
  writeDigits,
} from '../../../../src/kernel/json/digits.ts';
import { JSON_LIMITS } from '../../../../src/kernel/json/limits.ts';
import { parseJsonInTurns } from '../../../../src/kernel/json/parse-json-in-turns.ts';
import { writeWhole } from '../../../../src/kernel/json/write-json.ts';

const ODD = '{"a":1.0,"b":[12345678901234567890,-0,{"c":1e5}],"1":0.10,"d\\"":9007199254740993}';

const number = fc.constantFrom(
  '0',
  '-0',
  '1',
  '1.0',
  '1.50',
  '0.7',
  '1e5',
  '1E+2',
  '12345678901234567890',
  '1e999',
  '-7',
);
const { json } = fc.letrec<{ json: string }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 4 },
    number,
    fc.string().map((text) => JSON.stringify(text)),
    fc.constantFrom('true', 'null', '"\ufdd0\ufdd012"', '"\\"1.0"', '"\\\\"'),
    fc.array(tie('json'), { maxLength: 4 }).map((items) => `[${items.join(',')}]`),
    fc
      .uniqueArray(fc.tuple(fc.constantFrom('a', '1', '__proto__', 'toJSON', 'é"'), tie('json')), {
        selector: ([name]) => name,
        maxLength: 4,
      })
      .map((members) => [...members].sort(([a], [b]) => Number(b === '1') - Number(a === '1')))
      .map((members) => `{${members.map(([k, v]) => `${JSON.stringify(k)}:${v}`).join(',')}}`),
  ),
}));

describe('JSON that is read and written again', () => {
  it('JSON that is read and written again keeps the spelling of every number, and its values are numbers', () => {
    const value = parseDigits(ODD) as { a: number; b: number[] };
    expect(value.a).toBe(1);
    expect(value.b[0]).toBe(Number('12345678901234567890'));
    expect(writeDigits(value)).toBe(
      '{"1":0.10,"a":1.0,"b":[12345678901234567890,-0,{"c":1e5}],"d\\"":9007199254740993}',
    );
    expect(JSON.stringify(value)).toContain('"a":1,');
  });

  it('JSON that is read and written again is the same text', () => {
    fc.assert(
      fc.property(json, (text) => {
        const whole = `{"value":${text}}`;
        expect(writeDigits(parseDigits(whole))).toBe(whole);
      }),
    );
  });

  it('JSON that is read and written again has the new value of a changed number', () => {
    const value = parseDigits('{"a":1.0,"b":2.0}') as Record<string, number>;
    value.a = 3;
    expect(writeDigits(value)).toBe('{"a":3,"b":2.0}');
    expect([digitsOf(value, 'a'), digitsOf(value, 'b')]).toEqual([undefined, '2.0']);
  });

  it('copied JSON keeps the spelling of the numbers whose members are unchanged', () => {
    const value = parseDigits('{"a":1.0,"list":[{"b":2.0}],"c":3.0}') as Record<string, unknown>;
    const copy = { ...structuredClone(value), c: 4, d: 5 };
    expect(writeDigits(copyDigits(value, copy))).toBe('{"a":1.0,"list":[{"b":2.0}],"c":4,"d":5}');
  });

  it('JSON that is read and written again keeps the last of several members with one name', () => {
    const text = '{"a":{"b":1.0},"a":[2.0],"c":3.0,"c":"x"}';
    expect(writeDigits(parseDigits(text))).toBe('{"a":[2.0],"c":"x"}');
  });

  it('long JSON that is read and written again keeps the spelling of its numbers', async () => {
    const item = `{"id":12345678901234567890,"text":"${'x'.repeat(200)}","many":[1.0,2,3.50]}`;
    const text = `[${Array.from({ length: 3_000 }, () => item).join(',')}]`;
    expect(text.length).toBeGreaterThan(JSON_LIMITS.bytesPerTurn);
    const value = await parseJsonInTurns(Buffer.from(text), JSON_LIMITS.upstream);
    expect((await writeWhole(value)).toString() === text).toBe(true);
    const flat = `[${Array.from({ length: 20_000 }, (_, i) => `${i}.0`).join(',')}]`;
    const numbers = await parseJsonInTurns(Buffer.from(flat), JSON_LIMITS.upstream);
    expect((await writeWhole(numbers)).toString() === flat).toBe(true);
  });
});

describe('the look for odd numbers', () => {
  it('findOdd finds no number that JavaScript would write in the same spelling', () => {
    const within = '{"a":"on 2024-01-05, v1.0 and 12345678901234567890, a-1.50 or -0"}';
    for (const text of ['{"a":0.7,"b":[-1.5,1e+21,0]}', '[9007199254740992]', '{}', within]) {
      expect(findOdd(text).kind, text).toBe('none');
    }
  });

  it.each([
    '1.0',
    '-1.50',
    '1e5',
    '-0',
    '-0.0',
    '0E-1',
    '12345678901234567890',
    '-9007199254740993',
  ])('findOdd finds %s in every place of a value, with blanks before it or without', (number) => {
    for (const text of [
      `{"a":${number}}`,
      `{"a" : ${number} }`,
      `[0.5,\n ${number}]`,
      `[${number}]`,
    ]) {
      expect(findOdd(text).kind, text).toBe('odd');
    }
  });

  it('findOdd reads a text of a million digits once', () => {
    const text = `{"a":"${'1'.repeat(1_000_000)}","b":"${' 1.0'.repeat(250_000)}"}`;
    const startedMs = performance.now();
    expect(findOdd(text).kind).toBe('none');
    expect(performance.now() - startedMs).toBeLessThan(1_000);
  });

  it('findOdd stops after a bounded number of candidates, and goes on from there', () => {
    const text = '[0.5,0.5,0.5,1.0]';
    const first = findOdd(text, 0, 2);
    expect(first.kind).toBe('more');
    expect(findOdd(text, first.kind === 'more' ? first.from : 0, 9).kind).toBe('odd');
  });
});
