import type { TimedWord } from '../../../engines/engine.ts';
import { isObject, type Json } from '../../../kernel/json.ts';
import type { TranscriptSegment, WholeTranscript } from '../transcription-rail.ts';

/**
 * Reads the transcript of a `json` or `verbose_json` answer with its times. Without times, the words are taken to fill the
 * whole file.
 */
export function readWhole(transcript: Json, durationMs: number): WholeTranscript {
  const text = typeof transcript.text === 'string' ? transcript.text.trim() : '';
  const language = typeof transcript.language === 'string' ? transcript.language : 'unknown';
  const words = listOf(transcript.words, wordOf);
  const [first] = words;
  const last = words.at(-1);
  if (first !== undefined && last !== undefined) {
    const spoken = { startMs: first.startMs, endMs: last.endMs, text, words };
    return { segments: [spoken], text, durationMs, language };
  }
  const told = listOf(transcript.segments, segmentOf);
  const untimed = text === '' ? [] : [{ startMs: 0, endMs: durationMs, text }];
  return { segments: told.length > 0 ? told : untimed, text, durationMs, language };
}

function listOf<T>(list: unknown, read: (item: Json) => T | undefined): T[] {
  if (!Array.isArray(list)) return [];
  return list.flatMap((item) => {
    const found = isObject(item) ? read(item) : undefined;
    return found === undefined ? [] : [found];
  });
}

function wordOf({ end, start, word }: Json): TimedWord | undefined {
  if (typeof word !== 'string' || !isTime(start) || !isTime(end)) return undefined;
  const said = word.trim();
  if (said === '') return undefined;
  return { word: said, startMs: 1_000 * start, endMs: 1_000 * Math.max(start, end) };
}

function segmentOf({ end, start, text }: Json): TranscriptSegment | undefined {
  if (typeof text !== 'string' || !isTime(start) || !isTime(end)) return undefined;
  return { startMs: 1_000 * start, endMs: 1_000 * Math.max(start, end), text: text.trim() };
}

const isTime = (value: unknown): value is number =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0;
