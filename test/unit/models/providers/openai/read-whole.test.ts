import { expect, it } from 'vitest';
import { readWhole } from '../../../../../src/models/providers/openai/read-whole.ts';

it('a verbose transcript’s word times are preferred over its segments, and invalid times are dropped', () => {
  const words = [
    { word: ' one', start: 0.5, end: 1 },
    { word: 'two', start: 2, end: 1 },
    { word: 3, start: 0, end: 1 },
    { word: ' ', start: 0, end: 1 },
    null,
  ];
  const segments = [
    { text: ' one two ', start: 0.5, end: 2 },
    { text: 'bad', start: -1, end: 2 },
  ];
  expect(readWhole({ text: 'one two', language: 'english', words, segments }, 3_000)).toEqual({
    text: 'one two',
    durationMs: 3_000,
    language: 'english',
    segments: [
      {
        startMs: 500,
        endMs: 2_000,
        text: 'one two',
        words: [
          { word: 'one', startMs: 500, endMs: 1_000 },
          { word: 'two', startMs: 2_000, endMs: 2_000 },
        ],
      },
    ],
  });
  expect(readWhole({ text: 'one two', segments }, 3_000).segments).toEqual([
    { startMs: 500, endMs: 2_000, text: 'one two' },
  ]);
  expect(readWhole({ text: ' one ' }, 3_000)).toMatchObject({
    language: 'unknown',
    segments: [{ startMs: 0, endMs: 3_000, text: 'one' }],
  });
  expect(readWhole({ text: '' }, 3_000).segments).toEqual([]);
});
