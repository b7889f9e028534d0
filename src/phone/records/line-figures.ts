import type { InOrderCounters } from '../../../media/line/in-order.ts';
import type { LinePlayback } from '../../../media/line/line-playback.ts';
import type { SessionTally } from '../../voice/live/session-tally.ts';

/** Figures of the sound over the line of one process. Null: no sound came. */
export type LineFigures = {
  /** Distance of the caller's sound from its audio time: smoothed, and the largest. */
  readonly jitterMs: number | null;
  readonly jitterMaxMs: number | null;
  /** Number of audio chunks that came too late to be used, and number of gaps that were filled with silence. */
  readonly lateChunks: number;
  readonly gaps: number;
  /** Number and total length of the silences of the line in the middle of answers. */
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
