import { describe, expect, it } from 'vitest';
import { shiftWords } from '../../../../src/engines/asr/shift-words.ts';
import { createWordPlaces } from '../../../../src/engines/asr/word-places.ts';

const word = (startMs: number, endMs: number) => ({ word: 'x', startMs, endMs });
const at = (seconds: number) => 16_000 * seconds;

describe('where the words of an utterance were said', () => {
  it('the words of an utterance are placed where the decoder heard them while the decoder hears everything', () => {
    const places = createWordPlaces();
    for (const second of [0, 1, 2]) places.note(at(second), at(second));
    expect(places.place([word(500, 2_400)])).toEqual([word(500, 2_400)]);
  });

  it('the words of an utterance are placed later by each pause that was kept from the decoder', () => {
    const places = createWordPlaces();
    places.note(at(0), at(1));
    places.note(at(2), at(5));
    expect(places.place([word(100, 900), word(2_500, 2_700)])).toEqual([
      word(1_100, 1_900),
      word(5_500, 5_700),
    ]);
  });

  it('a word is not stretched over the pause next to it', () => {
    const places = createWordPlaces();
    places.note(at(0), at(0));
    places.note(at(2), at(5));
    expect(places.place([word(1_500, 2_000), word(2_000, 2_300)])).toEqual([
      word(1_500, 2_000),
      word(5_000, 5_300),
    ]);
  });

  it('the word places of an utterance start again with a decoder that has heard nothing', () => {
    const places = createWordPlaces();
    places.note(at(0), at(3));
    places.note(at(0), at(7));
    expect(places.place([word(0, 1_000)])).toEqual([word(7_000, 8_000)]);
  });
});

describe('the words of transcripts in a whole', () => {
  it('the words of joined transcripts are placed after their utterance’s start, and unknown if one transcript has none', () => {
    expect(shiftWords([{ words: [word(1, 2)] }, { words: [word(3, 4)] }], 10)).toEqual([
      word(11, 12),
      word(13, 14),
    ]);
    expect(shiftWords([{ words: [word(1, 2)] }, {}], 10)).toBeUndefined();
  });
});
