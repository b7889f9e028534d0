import { describe, expect, it } from 'vitest';
import { renderFor } from '../../../../../src/models/providers/local/render-transcript.ts';
import { spacedWords } from '../../../../../src/models/providers/vendors/read-answer.ts';
import { segmentWords } from '../../../../../src/models/providers/vendors/segment-words.ts';
import { usualStallMs } from '../../../../support/longest-stall.ts';

const file = { name: 'sound', contentType: undefined, bytes: Buffer.alloc(0), durationMs: 1_000 };
const word = (said: string, startMs: number, endMs: number, gap = ' ') => ({
  word: said,
  startMs,
  endMs,
  gap,
});
const linesOf = async (...words: ReturnType<typeof word>[]) =>
  (await segmentWords(words)).map(({ endMs, startMs, text }) => [text, startMs, endMs]);

describe('words in lines', () => {
  it('transcript lines end at the end of a sentence and at a silence', async () => {
    expect(await linesOf()).toEqual([]);
    expect(
      await linesOf(
        word('Good', 0, 100),
        word('day."', 100, 200),
        word('Who', 250, 300),
        word('is', 1_299, 1_400),
        word('there', 2_400, 2_500),
      ),
    ).toEqual([
      ['Good day."', 0, 200],
      ['Who is', 250, 1_400],
      ['there', 2_400, 2_500],
    ]);
  });

  it('transcript lines last seven seconds at most, and a single longer word is a line', async () => {
    const words = Array.from({ length: 20 }, (_, i) => word('w', i * 500, i * 500 + 500));
    const lines = await linesOf(...words);
    expect(lines.map(([, start, end]) => Number(end) - Number(start))).toEqual([7_000, 3_000]);
    expect(await linesOf(word('a', 0, 60_000), word('b', 60_000, 60_001))).toHaveLength(2);
  });

  it('transcript lines keep the vendor’s gaps between words, none in languages without spaces', async () => {
    expect(await linesOf(word('今', 0, 1, ''), word('日', 1, 2, ''), word('OK', 2, 3))).toEqual([
      ['今日 OK', 0, 3],
    ]);
  });

  it('transcript lines of several hours are made and rendered without blocking the event loop', async () => {
    const list = Array.from({ length: 20_000 }, (_, i) => ({
      word: i % 11 === 0 ? 'end.' : 'word',
      start: i / 3,
      end: i / 3 + 0.2,
    }));
    const stallMs = await usualStallMs(50, async () => {
      const segments = await segmentWords(await spacedWords(list, 'word', 1_000));
      const whole = { segments, durationMs: 6_666_000, language: 'en' };
      const granularities = ['word', 'segment'] as const;
      for (const format of ['verbose_json', 'srt', 'vtt', 'text'] as const) {
        await renderFor(whole, format, { file, model: 'ears-1', granularities });
      }
    });
    expect(stallMs).toBeLessThan(50);
  });
});
