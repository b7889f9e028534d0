import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SpeechCutter, splitSpeech } from '../../../../src/engines/tts/split-speech.ts';

const BOUNDS = { firstChars: 30, chars: 60 };

describe('SpeechCutter', () => {
  it('SpeechCutter gives a sentence as soon as something follows it, and the rest at the end', () => {
    const cutter = new SpeechCutter(BOUNDS);
    expect(cutter.push('It costs 3')).toEqual([]);
    expect(cutter.push('.50 in all.')).toEqual([]);
    expect(cutter.push(' And')).toEqual(['It costs 3.50 in all.']);
    expect(cutter.push(' more')).toEqual([]);
    expect(cutter.end()).toEqual(['And more']);
    expect(cutter.end()).toEqual([]);
  });

  it('SpeechCutter waits for the next word where that word decides whether a sentence is over', () => {
    const cutter = new SpeechCutter({ firstChars: 60, chars: 60 });
    expect(cutter.push('It is No. ')).toEqual([]);
    expect(cutter.push('7. See you at 5 p.m. ')).toEqual(['It is No. 7.']);
    expect(cutter.push('Then')).toEqual(['See you at 5 p.m.']);
  });

  it('SpeechCutter gives a finished sentence at a pause, and no unfinished one', () => {
    const cutter = new SpeechCutter(BOUNDS);
    cutter.push('Hello there.');
    expect(cutter.pause()).toEqual(['Hello there.']);
    cutter.push('And then');
    expect(cutter.pause()).toEqual([]);
    cutter.push(' "we left."');
    expect(cutter.pause()).toEqual(['And then "we left."']);
  });

  it('SpeechCutter keeps links whole on request, and waits for their end', () => {
    const link = `[docs](https://a.example/${'x'.repeat(300)})`;
    const cutter = new SpeechCutter({ ...BOUNDS, keepsLinks: true });
    const given = [...`Look at ${link} now.`].flatMap((letter) => cutter.push(letter));
    expect([...given, ...cutter.end()]).toEqual(['Look at', link, 'now.']);
  });

  it('SpeechCutter reads a long run of punctuation once', () => {
    const dots = '.'.repeat(200_000);
    const startedMs = performance.now();
    expect(new SpeechCutter(BOUNDS).push(dots)).toEqual([]);
    expect(splitSpeech(`One${dots} two.`, BOUNDS).at(-1)).toBe('two.');
    // Read from every mark anew it takes a minute.
    expect(performance.now() - startedMs).toBeLessThan(5_000);
  });

  it('SpeechCutter cuts a sentence without an end, and never gives more than its limit', () => {
    const cutter = new SpeechCutter(BOUNDS);
    const given = [...'word '.repeat(100)].flatMap((letter) => cutter.push(letter));
    expect(given.length).toBeGreaterThan(5);
    expect(given[0]?.length).toBeLessThanOrEqual(BOUNDS.firstChars);
    expect(Math.max(...given.map(({ length }) => length))).toBeLessThanOrEqual(BOUNDS.chars);
  });

  it('SpeechCutter loses no word, however the text arrives', () => {
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
