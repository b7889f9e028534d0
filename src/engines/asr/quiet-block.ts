/** Upper bound of a pause's energy, as a share of the utterance's mean energy. */
const PAUSE_RATIO = 1 / 16;

export interface QuietBlock {
  /** Returns true when a block of this energy is a pause, compared with the mean energy since `reset`. */
  isQuiet(pcm: Int16Array, blockEnergy: number): boolean;
  reset(): void;
}

/** Creates a detector of pauses, at which an overlong utterance can be cut without cutting a word. */
export function createQuietBlock(): QuietBlock {
  let sum = 0;
  let samples = 0;
  return {
    isQuiet(pcm, blockEnergy) {
      sum += blockEnergy * pcm.length;
      samples += pcm.length;
      return blockEnergy <= (sum / samples) * PAUSE_RATIO;
    },
    reset() {
      sum = 0;
      samples = 0;
    },
  };
}
