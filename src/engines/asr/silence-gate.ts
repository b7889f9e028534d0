/** Silence that is still passed on, so that the recogniser hears a word end. */
const TAIL_SAMPLES = 4_800;
/** Blocks of silence that are kept back and passed on when speech returns: they hold its onset. */
const LEAD_BLOCKS = 2;
/** Root mean squares of 16-bit sound. Above the ceiling nothing is taken for silence. */
const FLOOR = { first: 30, least: 12, ceiling: 200 } as const;
/** A line whose noise grows is followed, doubling in three to four seconds of 100 ms blocks. */
const FLOOR_RISE = 1.02;
const SPEECH_OVER_FLOOR = 2;

export interface SilenceGate {
  /** Returns the blocks for the recogniser: none, this block, or the blocks that were kept back and this block. */
  pass(pcm: Int16Array, energy: number): readonly Int16Array[];
  /** An utterance ended. What is known of the line's noise stays. */
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
