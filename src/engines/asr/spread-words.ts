import type { TimedWord } from '../engine.ts';

/** Estimates word times for recognisers that report none: divides the time among the words by their numbers of letters. */
export function spreadWords(text: string, startMs: number, endMs: number): TimedWord[] {
  const words = text.split(/\s+/).filter((word) => word !== '');
  const letters = words.reduce((sum, word) => sum + word.length, 0);
  let before = 0;
  const at = () => Math.round(startMs + ((endMs - startMs) * before) / letters);
  return words.map((word) => {
    const wordStartMs = at();
    before += word.length;
    return { word, startMs: wordStartMs, endMs: at() };
  });
}
