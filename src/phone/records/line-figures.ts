import type { InOrderCounters } from '../../../media/line/in-order.ts';
import type { LinePlayback } from '../../../media/line/line-playback.ts';
import type { SessionTally } from '../../voice/live/session-tally.ts';

/** How the sound of one process's line came and went. Null: no sound came. */
export type LineFigures = {
  /** How far the caller's sound came from its audio time: smoothed, and at the most. */
  readonly jitterMs: number | null;
  readonly jitterMaxMs: number | null;
  /** Chunks that came after their time, and gaps that silence has filled. */
  readonly lateChunks: number;
  readonly gaps: number;
  /** How often and how long the line was silent in the middle of an answer. */
  readonly underruns: number;
  readonly underrunMs: number;
};

export const lineFigures = (
  jitter: SessionTally['jitter'],
  { gaps, late }: InOrderCounters,
  dry: LinePlayback['dry'],
): LineFigures => ({
  jitterMs: jitter === undefined ? null : tenths(jitter.smoothMs),
  jitterMaxMs: jitter === undefined ? null : tenths(jitter.mostMs),
  lateChunks: late,
  gaps,
  underruns: dry.underruns,
  underrunMs: Math.round(dry.ms),
});

const tenths = (ms: number): number => Math.round(ms * 10) / 10;
