import { type Measured, measured, refused } from './measured.ts';
import { MAX_OPUS_PACKET, OPUS_HZ, opusSamples } from './opus.ts';
import { Steps } from './steps.ts';

const CAPTURE = Buffer.from('OggS');
const PAGE_HEAD = 27;
const NO_GRANULE = 0xffff_ffff_ffff_ffffn;
/** The packets before the sound: its identification and its comments. */
const OPUS_HEADERS = 2;
const MAX_STREAMS = 64;

type Page = {
  readonly flags: number;
  readonly granule: bigint;
  readonly serial: number;
  readonly lacing: Buffer;
  readonly body: Buffer;
  readonly end: number;
};

/**
 * Ogg with Opus, each packet of which states its duration and is counted, or with Vorbis, whose duration is the granule
 * position of its last page. Chained streams add up.
 */
export async function oggDuration(bytes: Buffer): Promise<Measured> {
  const streams = new Map<number, OpusStream | VorbisStream>();
  const steps = new Steps();
  for (let at = 0; at !== -1; ) {
    const rest = steps.step();
    if (rest !== undefined) await rest;
    if (steps.isBeyondAny) return refused('The Ogg file has more parts than sound has.');
    const page = readPage(bytes, at);
    if (page === undefined) {
      at = bytes.indexOf(CAPTURE, at + 1);
      continue;
    }
    if ((page.flags & 2) !== 0 && streams.size < MAX_STREAMS) {
      const stream = begin(page.body);
      if (stream !== undefined) streams.set(page.serial, stream);
    }
    streams.get(page.serial)?.page(page);
    at = bytes.indexOf(CAPTURE, page.end);
  }
  if (streams.size === 0) return refused('The Ogg file holds neither Opus nor Vorbis.');
  let seconds = 0;
  for (const stream of streams.values()) seconds += stream.seconds;
  return seconds > 0 ? measured(seconds) : refused('The Ogg file holds no sound.');
}

function readPage(bytes: Buffer, at: number): Page | undefined {
  if (at + PAGE_HEAD > bytes.length || bytes.compare(CAPTURE, 0, 4, at, at + 4) !== 0) {
    return undefined;
  }
  const lacing = bytes.subarray(at + PAGE_HEAD, at + PAGE_HEAD + (bytes[at + 26] as number));
  const start = at + PAGE_HEAD + lacing.length;
  let end = start;
  for (const size of lacing) end += size;
  // A page that is cut short still counts as far as it goes.
  return {
    flags: bytes[at + 5] as number,
    granule: bytes.readBigUInt64LE(at + 6),
    serial: bytes.readUInt32LE(at + 14),
    lacing,
    body: bytes.subarray(start, end),
    end,
  };
}

function begin(identification: Buffer): OpusStream | VorbisStream | undefined {
  const starts = (text: string) => identification.toString('latin1', 0, text.length) === text;
  if (identification.length >= 12 && starts('OpusHead')) {
    return new OpusStream(identification.readUInt16LE(10));
  }
  if (identification.length >= 16 && starts('\x01vorbis')) {
    const rateHz = identification.readUInt32LE(12);
    return rateHz > 0 ? new VorbisStream(rateHz) : undefined;
  }
  return undefined;
}

class OpusStream {
  readonly #preSkip: number;
  #packets = 0;
  #samples = 0;
  #lastGranule = 0n;
  #isContinued = false;

  constructor(preSkip: number) {
    this.#preSkip = preSkip;
  }

  page({ lacing, body, granule }: Page): void {
    let at = 0;
    for (const size of lacing) {
      if (!this.#isContinued) this.#packet(body, at, size);
      at += size;
      this.#isContinued = size === 255;
    }
    if (granule !== NO_GRANULE) this.#lastGranule = granule;
  }

  #packet(body: Buffer, at: number, size: number): void {
    this.#packets += 1;
    const first = body[at];
    if (this.#packets <= OPUS_HEADERS || size === 0 || first === undefined) return;
    this.#samples += opusSamples(first, size > 1 ? body[at + 1] : undefined);
  }

  /** The last page may cut the last packet short, and no more than that. */
  get seconds(): number {
    const granule = Number(this.#lastGranule);
    const isTrimmed = granule <= this.#samples && granule > this.#samples - MAX_OPUS_PACKET;
    return Math.max(0, (isTrimmed ? granule : this.#samples) - this.#preSkip) / OPUS_HZ;
  }
}

class VorbisStream {
  readonly #rateHz: number;
  #lastGranule = 0n;

  constructor(rateHz: number) {
    this.#rateHz = rateHz;
  }

  page({ granule }: Page): void {
    if (granule !== NO_GRANULE && granule > this.#lastGranule) this.#lastGranule = granule;
  }

  get seconds(): number {
    return Number(this.#lastGranule) / this.#rateHz;
  }
}
