import {
  bytesPerSample,
  type SoundFormat,
  SoundReader,
  writeSound,
} from '../../../../media/coding.ts';
import { frameSamples } from '../../../../media/hearing.ts';
import type { NoiseSuppressor, NoiseSuppressors } from '../../../engines/noise-suppressor.ts';
import { MusicWatch } from './music-watch.ts';

/** Removes the noise of a telephone line, and distinguishes hold music from speech. */
export class LineCleaner {
  readonly #suppressor: NoiseSuppressor;
  readonly #format: SoundFormat;
  readonly #reader: SoundReader;
  readonly #frame: Int16Array;
  readonly #music = new MusicWatch();
  #bytes = new Uint8Array(0);

  constructor(suppressors: NoiseSuppressors, format: SoundFormat) {
    this.#suppressor = suppressors.open(format.sampleRateHz);
    this.#format = format;
    this.#reader = new SoundReader(format.encoding);
    this.#frame = new Int16Array(frameSamples(format.sampleRateHz));
  }

  /** True when the last seconds of the line sounded like music. */
  get isMusic(): boolean {
    return this.#music.isMusic;
  }

  /** Returns the same amount of sound without its noise, 20 ms late. The next call overwrites the returned bytes. */
  clean(bytes: Uint8Array): Uint8Array {
    if (this.#bytes.length < bytes.length) this.#bytes = new Uint8Array(bytes.length);
    const { encoding } = this.#format;
    const frameBytes = this.#frame.length * bytesPerSample(encoding);
    for (let at = 0; at < bytes.length; at += frameBytes) {
      const count = this.#reader.push(bytes.subarray(at, at + frameBytes), this.#frame);
      const samples = this.#frame.subarray(0, count);
      this.#suppressor.suppress(samples);
      this.#music.hear(samples);
      writeSound(
        encoding,
        samples,
        this.#bytes.subarray(at, at + count * bytesPerSample(encoding)),
      );
    }
    return this.#bytes.subarray(0, bytes.length);
  }

  close(): void {
    this.#suppressor.close();
  }
}

/** When the noise of a line is suppressed: always, never, or once it is as loud as speech. */
export type NoiseSuppression = boolean | 'auto';

/** Creates the noise suppression of a line. Undefined when no suppressor is installed: noise is then not removed. */
export const openCleaner = (
  suppressors: NoiseSuppressors | undefined,
  format: SoundFormat,
): LineCleaner | undefined => suppressors && new LineCleaner(suppressors, format);
