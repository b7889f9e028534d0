/** Sample rate and frame sizes for voice activity detection and speech recognition, whatever the input format. */

/** Sample rate for speech recognition and for the voice-activity model. */
export const HEARING_HZ = 16_000;
/** Samples in 20 ms at `HEARING_HZ`. */
export const HEARING_FRAME = 320;
/** Samples in 32 ms, the window of the voice-activity model. */
export const HEARING_WINDOW = 512;

const FRAMES_A_SECOND = HEARING_HZ / HEARING_FRAME;

/**
 * Sample rate at which the voice-activity gate and the turn detector read a stream. Telephone sound stays at 8 kHz and is
 * resampled only for the model and the recogniser.
 */
export type LineHz = 8_000 | typeof HEARING_HZ;

export const lineHzOf = (sampleRateHz: number): LineHz =>
  sampleRateHz === 8_000 ? 8_000 : HEARING_HZ;

/** Returns the number of samples in 20 ms. */
export const frameSamples = (rateHz: number): number => Math.floor(rateHz / FRAMES_A_SECOND);
