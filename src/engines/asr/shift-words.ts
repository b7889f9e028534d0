import type { TimedWord, Transcript } from '../engine.ts';

/**
 * Returns all words of some transcripts, shifted so that their utterance begins at `byMs`. Undefined when the times of any
 * transcript are unknown.
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
