import type { TimedWord, Transcript } from '../engine.ts';

/**
 * All words of some transcripts in the time of a whole in which their utterance begins at `byMs`. Undefined where the
 * times of one of them are not known.
 */
export function shiftWords(
  transcripts: readonly Pick<Transcript, 'words'>[],
  byMs: number,
): readonly TimedWord[] | undefined {
  const all: TimedWord[] = [];
  for (const { words } of transcripts) {
    if (words === undefined) return undefined;
    for (const { word, startMs, endMs } of words) {
      all.push({ word, startMs: startMs + byMs, endMs: endMs + byMs });
    }
  }
  return all;
}
