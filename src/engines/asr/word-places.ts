import { HEARING_HZ } from '../../../media/hearing.ts';
import type { TimedWord } from '../engine.ts';

/** Maps a decoder's times to times of the utterance. A decoder gets no long silences, so its clock stands still during them. */
export interface WordPlaces {
  /** Records that a decoder, which has heard `heardSamples`, next hears the audio at `saidSamples` of the utterance. */
  note(heardSamples: number, saidSamples: number): void;
  /** Converts the times of words from the decoder's clock to the utterance's. */
  place(words: readonly TimedWord[]): readonly TimedWord[];
}

/** Creates the map. It keeps one entry per pause, so a bounded utterance has a bounded number of entries. */
export function createWordPlaces(): WordPlaces {
  let shifts: { readonly heard: number; readonly by: number }[] = [];

  /**
   * Returns the shift of the clock at a decoder's time. At a pause, a word that ends belongs before the pause and a word that
   * begins belongs after it.
   */
  function shiftOf(samples: number, isEnd: boolean): number {
    const shift = shifts.findLast(({ heard }) => (isEnd ? heard < samples : heard <= samples));
    return (shift ?? shifts[0])?.by ?? 0;
  }

  function placed(ms: number, isEnd: boolean): number {
    const samples = (ms * HEARING_HZ) / 1_000;
    return Math.round(ms + (shiftOf(samples, isEnd) * 1_000) / HEARING_HZ);
  }

  return {
    note(heardSamples, saidSamples) {
      if (heardSamples === 0) shifts = [];
      const by = saidSamples - heardSamples;
      if (shifts.at(-1)?.by !== by) shifts.push({ heard: heardSamples, by });
    },
    place: (words) =>
      words.map(({ word, startMs, endMs }) => ({
        word,
        startMs: placed(startMs, false),
        endMs: placed(endMs, true),
      })),
  };
}
