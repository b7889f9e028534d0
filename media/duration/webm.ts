import { elementsIn, float, readNumber, unsigned } from '../webm/elements.ts';
import { type Measured, measured, refused } from './measured.ts';
import { OPUS_HZ, opusSamples } from './opus.ts';
import { Steps } from './steps.ts';

const TRACKS = 0x1654ae6b;
const TIMESTAMP_SCALE = 0x2ad7b1;
const DURATION = 0x4489;
const CLUSTER_TIME = 0xe7;
const SIMPLE_BLOCK = 0xa3;
const BLOCK = 0xa1;
/** Ids of the elements that hold times or durations. */
const READ: ReadonlySet<number> = new Set([
  TIMESTAMP_SCALE,
  DURATION,
  TRACKS,
  CLUSTER_TIME,
  SIMPLE_BLOCK,
  BLOCK,
]);

/** Measures WebM and Matroska: returns the later of the duration in the head and the time of the last block. */
export async function webmDuration(bytes: Buffer): Promise<Measured> {
  const times = new Times();
  const steps = new Steps();
  for (const element of elementsIn(bytes)) {
    const rest = steps.step();
    if (rest !== undefined) await rest;
    if (steps.isBeyondAny) return refused('The WebM file has more parts than sound has.');
    if (element === undefined || !READ.has(element.id)) continue;
    times.take(element.id, bytes.subarray(element.start, element.end));
  }
  const { seconds } = times;
  return seconds > 0 ? measured(seconds) : refused('The WebM file states no duration.');
}

class Times {
  #scaleNs = 1_000_000;
  #duration = 0;
  #cluster = 0;
  #lastBlock = 0;
  /** Samples in the last block; 0 unless its codec states them, as Opus does. */
  #lastSamples = 0;
  #isOpus = false;

  take(id: number, data: Buffer): void {
    if (id === TIMESTAMP_SCALE) this.#scaleNs = unsigned(data);
    else if (id === DURATION) this.#duration = float(data);
    else if (id === TRACKS) this.#isOpus = data.includes('A_OPUS');
    else if (id === CLUSTER_TIME) this.#cluster = unsigned(data);
    else if (id === SIMPLE_BLOCK || id === BLOCK) this.#block(data);
  }

  #block(data: Buffer): void {
    const track = readNumber(data, 0, 8, true)?.bytes ?? 0;
    if (data.length < track + 3) return;
    const at = this.#cluster + data.readInt16BE(track);
    if (at < this.#lastBlock) return;
    this.#lastBlock = at;
    const first = data[track + 3];
    if (this.#isOpus && first !== undefined) {
      this.#lastSamples = opusSamples(first, data[track + 4]);
    }
  }

  get seconds(): number {
    const ended = (this.#lastBlock * this.#scaleNs) / 1e9 + this.#lastSamples / OPUS_HZ;
    return Math.max((this.#duration * this.#scaleNs) / 1e9, ended);
  }
}
