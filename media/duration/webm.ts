import { type Measured, measured, refused } from './measured.ts';
import { OPUS_HZ, opusSamples } from './opus.ts';
import { Steps } from './steps.ts';

const SEGMENT = 0x18538067;
const INFO = 0x1549a966;
const TRACKS = 0x1654ae6b;
const CLUSTER = 0x1f43b675;
const BLOCK_GROUP = 0xa0;
const TIMESTAMP_SCALE = 0x2ad7b1;
const DURATION = 0x4489;
const CLUSTER_TIME = 0xe7;
const SIMPLE_BLOCK = 0xa3;
const BLOCK = 0xa1;
/** Elements whose children are read. Their own lengths are not needed, and a streaming recorder does not know them. */
const ENTERED: ReadonlySet<number> = new Set([SEGMENT, INFO, CLUSTER, BLOCK_GROUP]);

/** Elements that hold times or durations. */
const READ: ReadonlySet<number> = new Set([
  ...[TIMESTAMP_SCALE, DURATION, TRACKS, CLUSTER_TIME, SIMPLE_BLOCK, BLOCK],
]);

/** WebM and Matroska: the later of what the head says and of where the last block stands. */
export async function webmDuration(bytes: Buffer): Promise<Measured> {
  const times = new Times();
  const steps = new Steps();
  for (let at = 0; at < bytes.length; ) {
    const rest = steps.step();
    if (rest !== undefined) await rest;
    if (steps.isBeyondAny) return refused('The WebM file has more parts than sound has.');
    const id = readNumber(bytes, at, 4, false);
    const size = id && readNumber(bytes, at + id.bytes, 8, true);
    if (id === undefined || size === undefined) break;
    const start = at + id.bytes + size.bytes;
    if (ENTERED.has(id.value)) {
      at = start;
      continue;
    }
    // A view of each of a million elements would cost more than all the rest.
    if (READ.has(id.value)) {
      times.take(id.value, bytes.subarray(start, Math.min(start + size.value, bytes.length)));
    }
    at = start + size.value;
  }
  const { seconds } = times;
  return seconds > 0 ? measured(seconds) : refused('The WebM file states no duration.');
}

class Times {
  #scaleNs = 1_000_000;
  #duration = 0;
  #cluster = 0;
  #lastBlock = 0;
  /** Of the last block, where its codec states them. */
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

/** A number of one byte more than its first byte has leading zero bits. An id keeps the marker bit behind these. */
function readNumber(
  bytes: Buffer,
  at: number,
  maxBytes: number,
  withoutMark: boolean,
): { readonly value: number; readonly bytes: number } | undefined {
  const first = bytes[at];
  if (first === undefined || first === 0) return undefined;
  const length = Math.clz32(first) - 23;
  if (length > maxBytes || at + length > bytes.length) return undefined;
  let value = withoutMark ? first & (0xff >> length) : first;
  for (let i = 1; i < length; i++) value = value * 256 + (bytes[at + i] as number);
  return { value, bytes: length };
}

const unsigned = (data: Buffer): number =>
  data.length === 0 || data.length > 8 ? 0 : data.reduce((value, byte) => value * 256 + byte, 0);

function float(data: Buffer): number {
  const value =
    data.length === 4 ? data.readFloatBE() : data.length === 8 ? data.readDoubleBE() : 0;
  return Number.isFinite(value) ? value : 0;
}
