import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  CustomInput,
  customArguments,
} from '../../../../../src/models/responses/translate/custom-tool.ts';

/** Texts with whatever JSON escapes, and pairs of surrogates. */
const texts = fc.string({
  unit: fc.oneof(fc.constantFrom('\n', '"', '\\', '\u0007', '\u{1f600}', 'u', '{'), fc.string()),
});

/** JSON as some vendors write it, with every character beyond ASCII escaped. */
const escaped = (json: string): string =>
  json.replace(/[^ -~]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);

function read(pieces: readonly string[]) {
  const reader = new CustomInput();
  const told = pieces.map((piece) => reader.push(piece));
  return { told: [...told, reader.end()], input: reader.input };
}

describe('the input of a custom tool', () => {
  it('a custom tool’s input is read from the arguments wherever they are cut, and no surrogate pair is split', () => {
    fc.assert(
      fc.property(texts, fc.boolean(), fc.array(fc.nat()), (text, isAscii, cuts) => {
        const json = isAscii ? escaped(customArguments(text)) : customArguments(text);
        const at = [0, ...cuts.map((cut) => cut % json.length), json.length];
        at.sort((a, b) => a - b);
        const { input, told } = read(at.slice(1).map((end, i) => json.slice(at[i], end)));
        expect(input).toBe(text);
        expect(told.join('')).toBe(text);
        for (const piece of told) expect(piece).not.toMatch(/[\ud800-\udbff]$/);
      }),
      { numRuns: 500 },
    );
  });

  it.each([
    ['a member of another name', '{"patch":"*** Begin"}', '*** Begin'],
    ['the member behind others', '{"why":"so","input":"a"}', 'a'],
    ['a text alone', '"a\\nb"', 'a\nb'],
    ['no JSON', '*** Begin Patch', '*** Begin Patch'],
    ['no arguments', '', ''],
    ['an empty object', '{}', ''],
    ['an object of more', '{"a":1,"b":"c"}', '{"a":1,"b":"c"}'],
    ['line breaks that are not escaped', '{"input":"a\nb"}', 'a\nb'],
    ['an escape that JSON does not have', '{"input":"a\\d\\uzz"}', 'aduzz'],
    ['spaces', ' {\n "input" :\t"a" }', 'a'],
    ['members behind it', '{"input":"a","more":"b"}', 'a'],
  ])('a custom tool’s input is read from %s', (_, json, input) => {
    expect(read([json]).input).toBe(input);
    expect(read([...json]).input).toBe(input);
  });

  it('custom tool inputs of a million characters are read in under five seconds, however they are cut', () => {
    const long = 'x'.repeat(1_000_000);
    const started = performance.now();
    expect(read(Array.from({ length: 100_000 }, () => 'no JSON ')).input).toHaveLength(800_000);
    expect(read([customArguments(long)]).input).toHaveLength(1_000_000);
    expect(read([...customArguments(long.slice(0, 100_000))]).input).toHaveLength(100_000);
    expect(performance.now() - started).toBeLessThan(5_000);
  });
});
