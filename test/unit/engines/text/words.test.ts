import { expect, it } from 'vitest';
import { stem, wordsOf } from '../../../../src/engines/text/words.ts';

it('wordsOf reads words without punctuation, and stem cuts their endings', () => {
  expect(wordsOf("What's my KEY, really?")).toEqual(['whats', 'my', 'key', 'really']);
  expect(['keys', 'charged', 'charge', 'pricing', 'is'].map(stem)).toEqual([
    'key',
    'charg',
    'charg',
    'pric',
    'is',
  ]);
});
