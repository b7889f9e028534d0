import { EngineMissing, type SoundEncoding } from '../../src/engines/engine.ts';

/** An installation without encoders. */
export const NO_ENCODERS: SoundEncoding = {
  makes: () => false,
  open: (format) => Promise.reject(new EngineMissing(`The ${format} encoder is not available`)),
};
