import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  checkJsonBounds,
  JsonTooComplex,
  JsonTooLong,
  parseBoundedJson,
  textOfJson,
  tryParseJson,
} from '../../../../src/kernel/json/parse-json.ts';
import { parseJsonInTurns } from '../../../../src/kernel/json/parse-json-in-turns.ts';
import { slowness, threadCpuMs } from '../../../support/thread-cpu.ts';

const BOUNDS = { depth: 128, values: 100_000, members: 25_000 };
const MOST_MS = 50;

/** What the longest of the steps takes that each have a turn of the event loop. */
function longestStepMs(json: Buffer): number {
  let text = '';
  const steps = [
    () => checkJsonBounds(json, BOUNDS),
    () => {
      text = textOfJson(json);
    },
    () => JSON.parse(text),
  ];
  let longestMs = 0;
  for (const step of steps) {
    const startedMs = threadCpuMs();
    try {
      step();
    } catch {
      return Math.max(longestMs, threadCpuMs() - startedMs);
    }
    longestMs = Math.max(longestMs, threadCpuMs() - startedMs);
  }
  return longestMs;
}

describe('bounded JSON', () => {
  it('parseBoundedJson reads what JSON.parse reads, from text and from bytes', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 8 }), (text) => {
        expect(parseBoundedJson(text, BOUNDS)).toEqual(JSON.parse(text));
        expect(parseBoundedJson(Buffer.from(text), BOUNDS)).toEqual(JSON.parse(text));
      }),
    );
  });

  it('parseBoundedJson counts no bracket, comma or colon inside a string, whatever is escaped there', () => {
    const tight = { depth: 1, values: 2, members: 0 };
    fc.assert(
      fc.property(fc.string({ maxLength: 300, unit: 'binary' }), fc.nat(200), (text, letters) => {
        const json = JSON.stringify([`${'a'.repeat(letters)}${text}`, '[{:,"\\']);
        expect(parseBoundedJson(json, tight)).toEqual(JSON.parse(json));
      }),
    );
  });

  it('parseBoundedJson refuses exactly what checkJsonBounds refuses, also in short texts', () => {
    const bound = fc.nat(30);
    const bounds = fc.record({ depth: fc.nat(4), values: bound, members: bound, textBytes: bound });
    const refusal = (look: () => unknown) => {
      try {
        look();
        return undefined;
      } catch (error) {
        return (error as Error).message;
      }
    };
    fc.assert(
      fc.property(fc.json({ maxDepth: 4, noUnicodeString: false }), bounds, (text, within) => {
        const found = refusal(() => checkJsonBounds(Buffer.from(text), within));
        expect(refusal(() => parseBoundedJson(text, within))).toBe(found);
        expect(refusal(() => parseBoundedJson(Buffer.from(text), within))).toBe(found);
      }),
      { numRuns: 1_000 },
    );
  });

  it('parseBoundedJson refuses one level, one value and one member too many', () => {
    const bounds = { depth: 2, values: 3, members: 2 };
    expect(parseBoundedJson('[[1]]', bounds)).toEqual([[1]]);
    expect(() => parseBoundedJson('[[[]]]', bounds)).toThrow(JsonTooComplex);
    expect(parseBoundedJson('[1,2,3]', bounds)).toEqual([1, 2, 3]);
    expect(() => parseBoundedJson('[1,2,3,4]', bounds)).toThrow(JsonTooComplex);
    expect(() => parseBoundedJson('{"a":1,"b":2,"c":3}', bounds)).toThrow(JsonTooComplex);
    expect(() => parseBoundedJson('[', bounds)).toThrow(SyntaxError);
    expect(tryParseJson('[[[]]]', bounds)).toBeUndefined();
  });

  it('parseBoundedJson limits the text of a request and not its images, audio or files', () => {
    const bounds = { ...BOUNDS, textBytes: 10_000 };
    const image = `data:image/png;base64,${'iVBORw0KGgo/+'.repeat(1_000)}==`;
    const words = 'as I said '.repeat(1_100);
    expect(parseBoundedJson(JSON.stringify({ image, text: 'hello' }), bounds)).toHaveProperty(
      'image',
    );
    expect(() => parseBoundedJson(JSON.stringify({ text: words }), bounds)).toThrow(JsonTooLong);
    expect(() => parseBoundedJson(JSON.stringify({ image, text: words }), bounds)).toThrow('10000');
    expect(() => parseBoundedJson(`[1${' '.repeat(10_000)}]`, bounds)).toThrow(JsonTooLong);
  });

  it('parseBoundedJson reads a long text in several event-loop turns, with the same result', async () => {
    const value = Array.from({ length: 9_000 }, (_, i) => [`${i}`, 'ü']);
    let turns = 0;
    const count = () => {
      turns++;
      counting = setImmediate(count);
    };
    let counting = setImmediate(count);
    expect(await parseJsonInTurns(Buffer.from(JSON.stringify(value)), BOUNDS)).toEqual(value);
    clearImmediate(counting);
    expect(turns).toBeGreaterThanOrEqual(3);
    await expect(parseJsonInTurns(Buffer.from(`${'['.repeat(99_999)}`), BOUNDS)).rejects.toThrow(
      JsonTooComplex,
    );
  });

  it.each([
    ['nested lists', '['.repeat(9_500_000)],
    ['empty objects', `[${'{},'.repeat(3_300_000)}`],
    ['a text of escapes', `"${'\\"'.repeat(4_700_000)}"`],
    ['a text with escapes far apart', `"${`${'a'.repeat(70)}\\n`.repeat(130_000)}"`],
    ['a text without an end', `"${'a'.repeat(9_500_000)}`],
    ['texts of any length', `[${`"${'a'.repeat(70)}",`.repeat(90_000)}"\\n"]`],
    ['spaces', `[${' '.repeat(9_500_000)}]`],
    ['names that are all different', `{${Array.from({ length: 24_000 }, (_, i) => `"k${i}":1`)}}`],
  ])('parseBoundedJson reads or refuses ten megabytes in short steps: %s', (_, text) => {
    const json = Buffer.from(text);
    const times: number[] = [];
    // Other tests share the processor: the quietest counts.
    while (times.length < 10 && !times.some((ms) => ms < MOST_MS)) {
      times.push(longestStepMs(json) / slowness());
    }
    expect(Math.min(...times)).toBeLessThan(MOST_MS);
  });
});
