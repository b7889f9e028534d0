import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SpeechCutter, splitSpeech } from '../../../../src/engines/tts/split-speech.ts';

const BOUNDS = { firstChars: 30, chars: 60 };

describe('SpeechCutter', () => {
  it('gives a sentence as soon as something follows it, and the rest at the end', () => {
    const cutter = new SpeechCutter(BOUNDS);
    expect(cutter.push('It costs 3')).toEqual([]);
    expect(cutter.push('.50 in all.')).toEqual([]);
    expect(cutter.push(' And')).toEqual(['It costs 3.50 in all.']);
    expect(cutter.push(' more')).toEqual([]);
    expect(cutter.end()).toEqual(['And more']);
    expect(cutter.end()).toEqual([]);
  });

  it('reads a long run of marks once', () => {
    const dots = '.'.repeat(200_000);
    const startedMs = performance.now();
    expect(new SpeechCutter(BOUNDS).push(dots)).toEqual([]);
    expect(splitSpeech(`One${dots} two.`, BOUNDS).at(-1)).toBe('two.');
    // Read from every mark anew it takes a minute.
    expect(performance.now() - startedMs).toBeLessThan(5_000);
  });

  it('never waits for the end of a sentence that has none, and never gives more than its bound', () => {
    const cutter = new SpeechCutter(BOUNDS);
    const given = [...'word '.repeat(100)].flatMap((letter) => cutter.push(letter));
    expect(given.length).toBeGreaterThan(5);
    expect(given[0]?.length).toBeLessThanOrEqual(BOUNDS.firstChars);
    expect(Math.max(...given.map(({ length }) => length))).toBeLessThanOrEqual(BOUNDS.chars);
  });

  it('loses no word, however the text comes', () => {
    const text = fc.array(fc.constantFrom('a', 'bee', 'sea.', 'No!', ' ', ' ', '\n', 'dee;'));
    fc.assert(
      fc.property(text, (pieces) => {
        const cutter = new SpeechCutter(BOUNDS);
        const given = [...pieces.flatMap((piece) => cutter.push(piece)), ...cutter.end()];
        const whole = splitSpeech(pieces.join(''), BOUNDS);
        const words = (chunks: readonly string[]) => chunks.join(' ').replace(/\s+/g, '');
        expect(words(given)).toBe(words(whole));
      }),
    );
  });
});
