import { describe, expect, it } from 'vitest';
import {
  editDistance,
  mayBe,
  soundOf,
  stem,
  wordsOf,
} from '../../../../src/engines/guide/guide-words.ts';

describe('guide words', () => {
  it('reads words without marks and with their endings cut', () => {
    expect(wordsOf("What's my KEY, really?")).toEqual(['whats', 'my', 'key', 'really']);
    expect(['keys', 'charged', 'charge', 'pricing', 'is'].map(stem)).toEqual([
      'key',
      'charg',
      'charg',
      'pric',
      'is',
    ]);
  });

  it('forgives a word that sounds alike or is nearly spelled alike, and no other', () => {
    expect(editDistance('palace', 'balance')).toBe(2);
    expect(soundOf('violence')).toBe(soundOf('balance'));
    expect(mayBe('palace', 'balance')).toBe(true);
    expect(mayBe('violence', 'balance')).toBe(true);
    expect(mayBe('weather', 'balance')).toBe(false);
    expect(mayBe('a', 'balance')).toBe(false);
  });
});
