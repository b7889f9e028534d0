import {
  BATCH_PACKETS,
  type CodedStream,
  type PacketBatch,
  type PacketCodec,
  SoundRefused,
} from '../coded/packets.ts';
import {
  NO_GRANULE,
  type OggPage,
  type OggStreamHead,
  pagesIn,
  readStreamHead,
} from './read-pages.ts';

const OPUS_HZ = 48_000;
/** Bytes that Ogg puts before the head of a FLAC file. */
const FLAC_PREFIX = 9;
/** Number of header packets before the sound, by codec. FLAC may have more. */
const HEADERS: Readonly<Partial<Record<PacketCodec, number>>> = { opus: 2, vorbis: 3, flac: 1 };

/**
 * Yields the packets of an Ogg file, one stream after the other. When several audio streams begin together, only the first
 * stream is read.
 */
export function* oggPackets(file: Buffer): Generator<PacketBatch> {
  let current: StreamReader | undefined;
  for (const page of pagesIn(file)) {
    if (page === undefined) continue;
    const head = page.begins ? readStreamHead(page.body) : undefined;
    if (head !== undefined && (current?.hasSound ?? true)) {
      current = new StreamReader(page.serial, head);
    }
    if (page.serial === current?.serial) yield* current.page(page);
  }
  if (current === undefined) {
    throw new SoundRefused('The Ogg file holds neither Opus nor Vorbis nor FLAC.');
  }
}

class StreamReader {
  readonly serial: number;
  readonly #head: OggStreamHead;
  readonly #headers: Buffer[] = [];
  #stream: CodedStream | undefined;
  /** Parts of a packet that continues on the next page. */
  #parts: Buffer[] = [];

  constructor(serial: number, head: OggStreamHead) {
    this.serial = serial;
    this.#head = head;
  }

  /** True when all headers of the stream have been read and sound packets follow. */
  get hasSound(): boolean {
    return this.#stream !== undefined;
  }

  *page(page: OggPage): Generator<PacketBatch> {
    const found = [...this.#packets(page)].filter((packet) => this.#mayHold(packet));
    while (found.length > 0 && this.#headers.length < (HEADERS[this.#head.codec] ?? 1)) {
      this.#headers.push(found.shift() as Buffer);
    }
    if (found.length === 0) return;
    this.#stream ??= streamOf(this.#head, this.#headers);
    const stream = this.#stream;
    for (let at = 0; at < found.length; at += BATCH_PACKETS) {
      const packets = found.slice(at, at + BATCH_PACKETS);
      const isLast = page.ends && page.granule !== NO_GRANULE && at + BATCH_PACKETS >= found.length;
      yield isLast ? { stream, packets, endSample: Number(page.granule) } : { stream, packets };
    }
  }

  /** Returns true when the packet may be sound. Further headers of FLAC do not begin with the first byte of a frame. */
  #mayHold(packet: Buffer): boolean {
    return this.#head.codec !== 'flac' || this.#headers.length === 0 || packet[0] === 0xff;
  }

  *#packets({ lacing, body }: OggPage): Generator<Buffer> {
    let at = 0;
    for (const size of lacing) {
      // The file ends within this packet.
      if (at + size > body.length) return;
      this.#parts.push(body.subarray(at, at + size));
      at += size;
      if (size === 255) continue;
      const [only] = this.#parts;
      yield this.#parts.length === 1 ? (only as Buffer) : Buffer.concat(this.#parts);
      this.#parts = [];
    }
  }
}

function streamOf(head: OggStreamHead, headers: readonly Buffer[]): CodedStream {
  const [first = Buffer.alloc(0)] = headers;
  const { codec } = head;
  switch (codec) {
    case 'opus': {
      const { channels, preSkip } = head;
      return { codec, channels, rateHz: OPUS_HZ, setup: [first], skippedSamples: preSkip };
    }
    case 'flac': {
      const setup = [first.subarray(FLAC_PREFIX)];
      return { codec, rateHz: head.rateHz, channels: 0, setup, skippedSamples: 0 };
    }
    case 'vorbis':
      return { codec, rateHz: head.rateHz, channels: 0, setup: headers, skippedSamples: 0 };
  }
}
