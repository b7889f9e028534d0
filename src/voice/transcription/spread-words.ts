import type { TimedWord } from '../../engines/engine.ts';

/**
 * Lays the words of a text out over the time in which they were said, each as long as it has letters.
 * An estimate, for recognisers that tell no times.
 */
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
