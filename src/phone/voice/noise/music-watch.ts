import { CHANGE_OF_VOICES_DB, LoudnessHistory } from '../../../../media/loudness-history.ts';
import { energy } from '../../../../media/pcm.ts';

/**
 * Share of the mean energy, both above the quietest frame's energy, below which a frame is a pause between words or syllables.
 */
const PAUSE = 0.1;
/** Least share of pauses among the frames of speech: music has fewer pauses. */
const PAUSES_OF_SPEECH = 0.2;

/** Distinguishes music from speech by the pauses between words and syllables, which music lacks, and by its steadiness. */
export class MusicWatch {
  readonly #history = new LoudnessHistory();

  /** Takes the next 20 ms of a line, without its noise. */
  hear(samples: Int16Array): void {
    this.#history.push(energy(samples));
  }

  get isMusic(): boolean {
    const history = this.#history;
    if (!history.isFull) return false;
    // A hum or a hiss that is left of the noise is no music.
    const least = history.least();
    const pause = least + PAUSE * (history.mean() - least);
    if (history.shareUpTo(pause) >= PAUSES_OF_SPEECH) return false;
    return history.meanChangeDb() < CHANGE_OF_VOICES_DB;
  }
}
