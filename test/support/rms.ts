import { energy } from '../../media/pcm.ts';

/** Root mean square in sample units: 0 is silence, 32,768 is full scale. */
export const rms = (samples: Int16Array): number => Math.sqrt(energy(samples));
