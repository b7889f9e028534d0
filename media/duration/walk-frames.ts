import { type Measured, measured, refused } from './measured.ts';
import { Steps } from './steps.ts';

/** One coded frame: its length in bytes, and the number and rate of its samples. */
export type CodedFrame = {
  readonly bytes: number;
  readonly samples: number;
  readonly sampleRateHz: number;
};

/** A frame and its offset, or the number of bytes that were skipped. */
export type Walked = { readonly at: number; readonly frame: CodedFrame } | number;

/** Reads the frame that begins at an offset; undefined when no frame begins there. */
export type ReadFrame = (bytes: Buffer, at: number) => CodedFrame | undefined;

/** Bytes outside of frames after which the file is refused as not being of its format. */
const MAX_JUNK_BYTES = 4 * 1024 * 1024;
/**
 * Bytes at the start of a file within which its first frame must begin. A stream that was cut may begin within a frame; the
 * longest AAC frame is this long.
 */
const MAX_CUT_BYTES = 8_192;
/** Number of consecutive frames that distinguishes sound from bytes that look like a frame by chance. */
const SURE_FRAMES = 4;

/** Measures a file without an index by adding up its frames. */
export async function walkFrames(
  bytes: Buffer,
  name: string,
  readFrame: ReadFrame,
): Promise<Measured> {
  const samples = new Map<number, number>();
  const steps = new Steps();
  let junk = 0;
  for (const walked of framesIn(bytes, readFrame)) {
    const rest = steps.step();
    if (rest !== undefined) await rest;
    if (steps.isBeyondAny) return refused(`The ${name} file has more parts than sound has.`);
    if (typeof walked === 'number') {
      junk += walked;
      if (junk > MAX_JUNK_BYTES)
        return refused(`The ${name} file holds too much that is no sound.`);
      continue;
    }
    const { frame } = walked;
    samples.set(frame.sampleRateHz, (samples.get(frame.sampleRateHz) ?? 0) + frame.samples);
  }
  let seconds = 0;
  for (const [rateHz, count] of samples) seconds += count / rateHz;
  return seconds > 0 ? measured(seconds) : refused(`The ${name} file holds no whole frame.`);
}

/**
 * Yields the frames of a file in order. Other bytes (tags, padding, damage) are skipped, as players do. After a gap, a frame
 * counts only when another frame follows it, since two bytes may look like a header by accident.
 */
export function* framesIn(bytes: Buffer, readFrame: ReadFrame): Generator<Walked> {
  let isInStep = false;
  for (let at = pastTags(bytes); at < bytes.length; ) {
    const frame = readFrame(bytes, at);
    if (frame !== undefined && (isInStep || isFollowed(bytes, at + frame.bytes, readFrame))) {
      yield { at, frame };
      at += frame.bytes;
      isInStep = true;
      continue;
    }
    isInStep = false;
    const next = bytes.indexOf(0xff, at + 1);
    const to = next === -1 ? bytes.length : next;
    yield to - at;
    at = to;
  }
}

const isFollowed = (bytes: Buffer, at: number, readFrame: ReadFrame): boolean =>
  at === bytes.length || readFrame(bytes, at) !== undefined;

/** Returns true when a file that begins within a frame continues with frames of this kind, all of one sample rate. */
export function goesOnWith(bytes: Buffer, readFrame: ReadFrame): boolean {
  const end = Math.min(bytes.length, MAX_CUT_BYTES);
  for (let at = bytes.indexOf(0xff); at !== -1 && at < end; at = bytes.indexOf(0xff, at + 1)) {
    if (isChain(bytes, at, readFrame)) return true;
  }
  return false;
}

function isChain(bytes: Buffer, start: number, readFrame: ReadFrame): boolean {
  let rateHz: number | undefined;
  let at = start;
  for (let frames = 0; frames < SURE_FRAMES; frames++) {
    const frame = readFrame(bytes, at);
    if (frame === undefined || (rateHz ?? frame.sampleRateHz) !== frame.sampleRateHz) return false;
    rateHz = frame.sampleRateHz;
    at += frame.bytes;
  }
  return true;
}

/** Largest number of ID3v2 tags that are skipped. An editor that does not find its own tag adds another one. */
const MAX_TAGS = 16;

/** Returns the offset of the first byte behind all ID3v2 tags at the start of a file. */
export function pastTags(bytes: Buffer): number {
  let at = 0;
  for (let tags = 0; tags < MAX_TAGS && at + 10 <= bytes.length; tags++) {
    if (bytes.toString('latin1', at, at + 3) !== 'ID3') break;
    const [a = 0, b = 0, c = 0, d = 0] = bytes.subarray(at + 6, at + 10);
    const size = ((a & 0x7f) << 21) | ((b & 0x7f) << 14) | ((c & 0x7f) << 7) | (d & 0x7f);
    const footer = ((bytes[at + 5] ?? 0) & 0x10) === 0 ? 0 : 10;
    at += 10 + size + footer;
  }
  return at;
}
