import { HEARING_FRAME, HEARING_HZ } from './hearing.ts';
import { Resampler } from './resample.ts';
import { monoBlocks, type WavSound } from './wav-sound.ts';

/** What the resampler takes. */
const RATE_HZ = { min: 8_000, max: 48_000 };
/** Frames of the file that are decoded at a time: some tens of milliseconds. */
const BLOCK_FRAMES = 2_048;

/** A file's sound as it is heard: frames of 20 ms at 16 kHz, the last one filled up with silence. */
export function* hearingFrames(wav: WavSound): Generator<Int16Array> {
  const { sampleRateHz } = wav;
  const down = Math.ceil(sampleRateHz / RATE_HZ.max);
  const up = Math.ceil(RATE_HZ.min / sampleRateHz);
  const resampler = new Resampler(Math.round((sampleRateHz * up) / down), HEARING_HZ);
  const rest = new Framer();
  let last = 0;
  for (const block of monoBlocks(wav, BLOCK_FRAMES * down)) {
    const near = up > 1 ? stretched(block, up, last) : averaged(block, down);
    last = block.at(-1) ?? last;
    const heard = new Int16Array(resampler.outputSamples(near.length));
    resampler.push(near, heard);
    yield* rest.push(heard);
  }
  const tail = new Int16Array(resampler.outputSamples(resampler.lookaheadSamples));
  resampler.flush(tail);
  yield* rest.push(tail);
  yield* rest.end();
}

class Framer {
  #frame = new Int16Array(HEARING_FRAME);
  #filled = 0;

  *push(samples: Int16Array): Generator<Int16Array> {
    for (let at = 0; at < samples.length; ) {
      const count = Math.min(HEARING_FRAME - this.#filled, samples.length - at);
      this.#frame.set(samples.subarray(at, at + count), this.#filled);
      this.#filled += count;
      at += count;
      if (this.#filled === HEARING_FRAME) yield this.#take();
    }
  }

  *end(): Generator<Int16Array> {
    if (this.#filled > 0) yield this.#take();
  }

  #take(): Int16Array {
    const frame = this.#frame;
    this.#frame = new Int16Array(HEARING_FRAME);
    this.#filled = 0;
    return frame;
  }
}

/** Rates above what the resampler takes: whole groups of samples become one. Speech lies far below. */
function averaged(samples: Int16Array, group: number): Int16Array {
  if (group === 1) return samples;
  const fewer = new Int16Array(Math.floor(samples.length / group));
  for (let i = 0; i < fewer.length; i++) {
    let sum = 0;
    for (let k = 0; k < group; k++) sum += samples[i * group + k] as number;
    fewer[i] = Math.round(sum / group);
  }
  return fewer;
}

/** Rates below it: samples in between are drawn on a line. */
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
