import { HEARING_FRAME, HEARING_HZ } from './hearing.ts';
import { Resampler } from './resample.ts';

/** A piece of mono sound at the rate that its file has. */
export type SoundBlock = { readonly rateHz: number; readonly samples: Int16Array };

/** Sample rates that the resampler takes. */
const RATE_HZ = { min: 8_000, max: 48_000 };

/** Turns the sound blocks of a file into frames of 20 ms at 16 kHz. The last frame is filled up with silence. */
export class HearingFrames {
  #rate: HeardRate | undefined;
  /** Samples at the end of the sound so far that do not fill a frame yet. */
  #rest = new Int16Array(0);

  /** Returns the frames that this block completes, one after the other. */
  push({ rateHz, samples }: SoundBlock): Int16Array {
    const before = this.#rate?.fromHz === rateHz ? [] : this.#leaveRate();
    this.#rate ??= new HeardRate(rateHz);
    return this.#cut([...before, this.#rate.push(samples)]);
  }

  /** Returns the remaining audio as a last frame, padded with silence. */
  end(): Int16Array {
    const frames = this.#cut(this.#leaveRate());
    if (this.#rest.length === 0) return frames;
    const last = new Int16Array(frames.length + HEARING_FRAME);
    last.set(frames);
    last.set(this.#rest, frames.length);
    this.#rest = new Int16Array(0);
    return last;
  }

  #leaveRate(): Int16Array[] {
    const rate = this.#rate;
    this.#rate = undefined;
    return rate === undefined ? [] : [rate.flush()];
  }

  #cut(parts: readonly Int16Array[]): Int16Array {
    const all = joined([this.#rest, ...parts]);
    const whole = all.length - (all.length % HEARING_FRAME);
    this.#rest = all.slice(whole);
    return all.subarray(0, whole);
  }
}

function joined(parts: readonly Int16Array[]): Int16Array {
  const all = new Int16Array(parts.reduce((samples, part) => samples + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/** Resamples sound of one rate to the rate of speech recognition. */
class HeardRate {
  readonly fromHz: number;
  readonly #down: number;
  readonly #up: number;
  readonly #resampler: Resampler;
  #last = 0;
  /** Samples at the end of the sound so far that do not fill a group yet. */
  #rest = new Int16Array(0);

  constructor(fromHz: number) {
    this.fromHz = fromHz;
    this.#down = Math.ceil(fromHz / RATE_HZ.max);
    this.#up = Math.ceil(RATE_HZ.min / fromHz);
    this.#resampler = new Resampler(Math.round((fromHz * this.#up) / this.#down), HEARING_HZ);
  }

  push(samples: Int16Array): Int16Array {
    const near = this.#up > 1 ? stretched(samples, this.#up, this.#last) : this.#averaged(samples);
    this.#last = samples.at(-1) ?? this.#last;
    const heard = new Int16Array(this.#resampler.outputSamples(near.length));
    this.#resampler.push(near, heard);
    return heard;
  }

  flush(): Int16Array {
    const tail = new Int16Array(this.#resampler.outputSamples(this.#resampler.lookaheadSamples));
    this.#resampler.flush(tail);
    return tail;
  }

  #averaged(samples: Int16Array): Int16Array {
    if (this.#down === 1) return samples;
    const all = joined([this.#rest, samples]);
    this.#rest = all.slice(all.length - (all.length % this.#down));
    return averaged(all, this.#down);
  }
}

/**
 * Lowers a rate that is too high for the resampler: averages each whole group of samples into one sample. Speech lies far below
 * the lost frequencies.
 */
function averaged(samples: Int16Array, group: number): Int16Array {
  const fewer = new Int16Array(Math.floor(samples.length / group));
  for (let i = 0; i < fewer.length; i++) {
    let sum = 0;
    for (let k = 0; k < group; k++) sum += samples[i * group + k] as number;
    fewer[i] = Math.round(sum / group);
  }
  return fewer;
}

/** Raises a rate that is too low for the resampler: puts samples on a straight line between each two samples. */
function stretched(samples: Int16Array, times: number, before: number): Int16Array {
  const more = new Int16Array(samples.length * times);
  let from = before;
  for (const [i, to] of samples.entries()) {
    for (let k = 0; k < times; k++) {
      more[i * times + k] = Math.round(from + ((to - from) * (k + 1)) / times);
    }
    from = to;
  }
  return more;
}
