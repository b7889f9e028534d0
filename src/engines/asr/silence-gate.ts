/** Samples of silence after speech that still go to the recogniser, so that it detects the end of the last word. */
const TAIL_SAMPLES = 4_800;
/** Blocks of silence that are kept and passed on when speech returns, because they contain the beginning of the first word. */
const LEAD_BLOCKS = 2;
/** Noise floor as the root mean square of 16-bit audio: its start, its minimum and its maximum. */
const FLOOR = { first: 30, least: 12, ceiling: 200 } as const;
/** Growth of the noise floor per 100 ms block on a line whose noise grows: it doubles in three to four seconds. */
const FLOOR_RISE = 1.02;
const SPEECH_OVER_FLOOR = 2;

export interface SilenceGate {
  /** Returns the blocks for the recogniser: none, this block, or the blocks that were kept back and this block. */
  pass(pcm: Int16Array, energy: number): readonly Int16Array[];
  /** Forgets the kept silence after the end of an utterance. The noise floor of the line stays. */
  reset(): void;
  /** Root mean square of the line's noise. */
  readonly floor: number;
  /** Continues with the noise floor of another line. With undefined, starts without one. */
  useFloor(floor: number | undefined): void;
}

/**
 * Keeps long silence from the recogniser. The recogniser takes the mean of the audio for the sound of the line, and after ten
 * seconds of silence would no longer understand the speech that follows.
 */
export function createSilenceGate(): SilenceGate {
  let floor: number = FLOOR.first;
  let silentSamples = 0;
  let kept: Int16Array[] = [];

  return {
    pass(pcm, energy) {
      const loudness = Math.sqrt(energy);
      const rising = Math.min(FLOOR.ceiling, floor * FLOOR_RISE);
      floor = Math.max(FLOOR.least, Math.min(loudness, rising));
      if (loudness > floor * SPEECH_OVER_FLOOR) {
        const heard = [...kept, pcm];
        kept = [];
        silentSamples = 0;
        return heard;
      }
      silentSamples += pcm.length;
      if (silentSamples <= TAIL_SAMPLES) return [pcm];
      kept.push(pcm);
      if (kept.length > LEAD_BLOCKS) kept.shift();
      return [];
    },
    reset() {
      silentSamples = 0;
      kept = [];
    },
    get floor() {
      return floor;
    },
    useFloor(known = FLOOR.first) {
      floor = known;
    },
  };
}
