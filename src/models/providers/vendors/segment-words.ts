import { turnForLongWork } from '../../../kernel/long-work.ts';
import type { TranscriptSegment } from '../transcription-rail.ts';
import type { HeardWord } from './vendor-api.ts';

/** Milliseconds for which a line of subtitles is shown at most, and milliseconds of silence that end a line. */
const MOST_MS = 7_000;
const SILENCE_MS = 1_000;
/** Words that are split in one turn of the event loop, which takes some milliseconds. */
const WORDS_PER_TURN = 5_000;
const SENTENCE_END = /[.!?。！？…]["'”’)\]]*$/;

/**
 * Splits words into segments. A segment ends with a sentence, before a silence of `SILENCE_MS`, or before it exceeds `MOST_MS`.
 */
export async function segmentWords(words: readonly HeardWord[]): Promise<TranscriptSegment[]> {
  const segments: TranscriptSegment[] = [];
  let line: HeardWord[] = [];
  for (const [index, word] of words.entries()) {
    if (index % WORDS_PER_TURN === 0 && index > 0) await turnForLongWork();
    if (isOver(line, word)) {
      segments.push(segmentOf(line));
      line = [];
    }
    line.push(word);
  }
  if (line.length > 0) segments.push(segmentOf(line));
  return segments;
}

function isOver(line: readonly HeardWord[], { startMs, endMs }: HeardWord): boolean {
  const [first, last] = [line[0], line.at(-1)];
  if (first === undefined || last === undefined) return false;
  const isLong = endMs - first.startMs > MOST_MS;
  return isLong || startMs - last.endMs >= SILENCE_MS || SENTENCE_END.test(last.word);
}

const segmentOf = (line: readonly HeardWord[]): TranscriptSegment => ({
  startMs: line[0]?.startMs ?? 0,
  endMs: line.at(-1)?.endMs ?? 0,
  text: line
    .map(({ gap, word }) => gap + word)
    .join('')
    .trim(),
  words: line.map(({ endMs, startMs, word }) => ({ endMs, startMs, word })),
});
