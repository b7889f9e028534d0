import {
  NO_GRANULE,
  type OggPage,
  type OggStreamHead,
  pagesIn,
  readStreamHead,
} from '../ogg/read-pages.ts';
import { readFlacFrame } from './flac.ts';
import { type Measured, measured, refused } from './measured.ts';
import { MAX_OPUS_PACKET, OPUS_HZ, opusSamples } from './opus.ts';
import { Steps } from './steps.ts';

/** Number of packets before the sound: identification and comments. */
const OPUS_HEADERS = 2;
/** Largest number of parallel streams in one file. */
const MAX_STREAMS = 64;

interface Stream {
  page(page: OggPage): void;
  readonly seconds: number;
}

/**
 * Measures Ogg. Packets of Opus and FLAC state their durations and are counted; the duration of Vorbis is the granule position
 * of the last page. Chained streams add up, even if they share a serial number.
 */
export async function oggDuration(bytes: Buffer): Promise<Measured> {
  const streams = new Map<number, Stream>();
  const steps = new Steps();
  let seconds = 0;
  let isKnown = false;
  const end = (serial: number) => {
    seconds += streams.get(serial)?.seconds ?? 0;
    streams.delete(serial);
  };
  for (const page of pagesIn(bytes)) {
    const rest = steps.step();
    if (rest !== undefined) await rest;
    if (steps.isBeyondAny) return refused('The Ogg file has more parts than sound has.');
    if (page === undefined) continue;
    const head = page.begins ? readStreamHead(page.body) : undefined;
    if (head !== undefined) {
      end(page.serial);
      const [oldest] = streams.keys();
      if (oldest !== undefined && streams.size >= MAX_STREAMS) end(oldest);
      streams.set(page.serial, streamOf(head));
      isKnown = true;
    }
    streams.get(page.serial)?.page(page);
  }
  if (!isKnown) return refused('The Ogg file holds neither Opus nor Vorbis nor FLAC.');
  for (const serial of streams.keys()) end(serial);
  return seconds > 0 ? measured(seconds) : refused('The Ogg file holds no sound.');
}

function streamOf(head: OggStreamHead): Stream {
  switch (head.codec) {
    case 'opus':
      return new CountedStream(OPUS_HZ, head.preSkip, opusPacket);
    case 'flac':
      return new CountedStream(head.rateHz, 0, (body, at) =>
        body[at] === 0xff ? (readFlacFrame(body, at, head.rateHz)?.samples ?? 0) : 0,
      );
    case 'vorbis':
      return new VorbisStream(head.rateHz);
  }
}

/** Returns the number of samples in the packet at `at`, which is the `index`-th packet of its stream. */
type PacketSamples = (body: Buffer, at: number, size: number, index: number) => number;

const opusPacket: PacketSamples = (body, at, size, index) => {
  const first = body[at];
  if (index < OPUS_HEADERS || size === 0 || first === undefined) return 0;
  return opusSamples(first, size > 1 ? body[at + 1] : undefined);
};

class CountedStream implements Stream {
  readonly #rateHz: number;
  readonly #skipped: number;
  readonly #samplesOf: PacketSamples;
  #packets = 0;
  #samples = 0;
  #lastGranule = 0n;
  #isContinued = false;

  constructor(rateHz: number, skipped: number, samplesOf: PacketSamples) {
    this.#rateHz = rateHz;
    this.#skipped = skipped;
    this.#samplesOf = samplesOf;
  }

  page({ lacing, body, granule }: OggPage): void {
    let at = 0;
    for (const size of lacing) {
      if (!this.#isContinued) this.#samples += this.#samplesOf(body, at, size, this.#packets++);
      at += size;
      this.#isContinued = size === 255;
    }
    if (granule !== NO_GRANULE) this.#lastGranule = granule;
  }

  /** Returns the duration. The last page may shorten only the last packet. */
  get seconds(): number {
    const granule = Number(this.#lastGranule);
    const isTrimmed = granule <= this.#samples && granule > this.#samples - MAX_OPUS_PACKET;
    return Math.max(0, (isTrimmed ? granule : this.#samples) - this.#skipped) / this.#rateHz;
  }
}

class VorbisStream implements Stream {
  readonly #rateHz: number;
  #lastGranule = 0n;

  constructor(rateHz: number) {
    this.#rateHz = rateHz;
  }

  page({ granule }: OggPage): void {
    if (granule !== NO_GRANULE && granule > this.#lastGranule) this.#lastGranule = granule;
  }

  get seconds(): number {
    return Number(this.#lastGranule) / this.#rateHz;
  }
}
