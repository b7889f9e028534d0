import { shiftWords } from '../../engines/asr/shift-words.ts';
import type { TimedWord, Transcript } from '../../engines/engine.ts';
import type { Heard, Segment } from './transcriber-events.ts';

/** An utterance while it is received and transcribed: speech without a long pause. */
export type Utterance = {
  readonly beganMs: number;
  readonly segments: Transcript[];
  /** Interim words after the final segments. */
  guess: string;
  isPausing: boolean;
  /** Index in `segments` of the first segment that was not sent. */
  tailFrom: number;
  tailStartMs: number;
  frames: number;
  /** Audio that is queued for the recogniser; empty for a dropped utterance. */
  readonly waiting: Int16Array[];
  dropped: boolean;
  failed: boolean;
  /** True when the recogniser has detected the end of the turn after the last words. */
  isTurnOver: boolean;
};

export const newUtterance = (beganMs: number): Utterance => ({
  beganMs,
  segments: [],
  guess: '',
  isPausing: false,
  tailFrom: 0,
  tailStartMs: beganMs,
  frames: 0,
  waiting: [],
  dropped: false,
  failed: false,
  isTurnOver: false,
});

/** Returns the words of an utterance so far, including words that may still change. */
export const wordsSoFar = ({ guess, segments }: Utterance): string =>
  [textOf(segments), guess].filter((part) => part !== '').join(' ');

const textOf = (segments: readonly Transcript[]): string =>
  segments.map(({ text }) => text).join(' ');

/** Returns the words of some segments on the stream's clock; undefined when the recogniser reports no times. */
const wordsOf = (
  { beganMs }: Utterance,
  segments: readonly Transcript[],
): readonly TimedWord[] | undefined => shiftWords(segments, beganMs);

/** Returns the segment up to `endMs` that a transcript adds to an utterance. After a final transcript the guess is empty. */
export function nextSegment(utterance: Utterance, transcript: Transcript, endMs: number): Segment {
  const { isFinal, text } = transcript;
  const { tailStartMs: startMs } = utterance;
  utterance.guess = isFinal ? '' : text;
  if (isFinal) {
    utterance.tailFrom = utterance.segments.length;
    utterance.tailStartMs = endMs;
  }
  return { text, isFinal, words: wordsOf(utterance, [transcript]), startMs, endMs };
}

/** Returns the result of an utterance that has ended and is transcribed. `voiceEndMs` is the end of its last voice. */
export function heardOf(
  utterance: Utterance,
  how: Pick<Heard, 'asked' | 'isCut' | 'heardMs' | 'latencyMs' | 'silentMs'> & {
    readonly voiceEndMs: number;
  },
): Heard {
  const { failed, isTurnOver, segments, tailFrom, tailStartMs: startMs } = utterance;
  const { voiceEndMs, ...rest } = how;
  const unsent = segments.slice(tailFrom);
  const endMs = Math.max(startMs, voiceEndMs);
  const [text, tail] = [textOf(segments), textOf(unsent)];
  const words = wordsOf(utterance, unsent);
  const over = isTurnOver ? { isTurnOver } : {};
  return { text, tail, words, startMs, endMs, failed, ...over, ...rest };
}
