/** Tiny files of every container, made of as many frames as a test wants. Their sound is nothing but zeroes. */

/** A WAV file with any head: `claims` overrules the length of the data chunk. */
export function wavFile(options: {
  readonly tag?: number;
  readonly bits?: number;
  readonly channels?: number;
  readonly rateHz?: number;
  readonly data: Uint8Array;
  readonly claims?: number;
  /** Chunks before the data. */
  readonly before?: Uint8Array;
}): Buffer {
  const { tag = 1, bits = 16, channels = 1, rateHz = 16_000, data, before } = options;
  const format = Buffer.alloc(24);
  format.write('fmt ', 0, 'latin1');
  format.writeUInt32LE(16, 4);
  format.writeUInt16LE(tag, 8);
  format.writeUInt16LE(channels, 10);
  format.writeUInt32LE(rateHz, 12);
  // A wrong byte rate, which no reader may rely on.
  format.writeUInt32LE(7, 16);
  format.writeUInt16LE(1, 20);
  format.writeUInt16LE(bits, 22);
  const head = Buffer.alloc(8);
  head.write('data', 0, 'latin1');
  head.writeUInt32LE(options.claims ?? data.length, 4);
  return Buffer.concat([
    Buffer.from('RIFF\0\0\0\0WAVE'),
    format,
    before ?? Buffer.alloc(0),
    head,
    data,
  ]);
}

/** A frame of MPEG 1 layer 3: 128 kbit/s, 44.1 kHz, 417 bytes, 1152 samples. */
export function mp3Frame(tag = ''): Buffer {
  const frame = Buffer.alloc(417);
  Buffer.from([0xff, 0xfb, 0x90, 0x00]).copy(frame);
  frame.write(tag, 36, 'latin1');
  return frame;
}

export const mp3File = (frames: number): Buffer =>
  Buffer.concat(Array.from({ length: frames }, () => mp3Frame()));

/** A frame of ADTS: 16 kHz, 1024 samples. */
export const adtsFrame = (): Buffer => Buffer.from([0xff, 0xf1, 0x60, 0x40, 1, 0x3f, 0xfc, 0, 0]);

export const adtsFile = (frames: number): Buffer =>
  Buffer.concat(Array.from({ length: frames }, adtsFrame));

export const id3 = (bytes: number): Buffer =>
  Buffer.concat([
    Buffer.from([0x49, 0x44, 0x33, 4, 0, 0, 0, 0, bytes >> 7, bytes & 0x7f]),
    Buffer.alloc(bytes, 0xff),
  ]);

/** A FLAC frame with this header, its checksum behind it and the rest of it empty. */
export function flacFrameOf(head: Uint8Array): Buffer {
  let crc = 0;
  for (const byte of head) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc << 1) ^ (crc & 0x80 ? 0x107 : 0);
  }
  return Buffer.concat([head, Buffer.from([crc]), Buffer.alloc(20)]);
}

/** A FLAC frame of 4096 samples. */
export function flacFrame(number: number): Buffer {
  // Block code 12 is 4096 samples; rate code 5 is 16 kHz; mono, 16 bits.
  return flacFrameOf(Buffer.from([0xff, 0xf8, 0xc5, 0x08, number]));
}

export function flacFile(frames: number, claimedSamples = 0): Buffer {
  const info = Buffer.alloc(42);
  info.write('fLaC', 0, 'latin1');
  info[4] = 0x80;
  info.writeUIntBE(34, 5, 3);
  info.writeUIntBE((16_000 << 4) | 1, 18, 3);
  info.writeUInt32BE(claimedSamples, 22);
  return Buffer.concat([info, ...Array.from({ length: frames }, (_, i) => flacFrame(i))]);
}

export function oggPage(options: {
  readonly packets: readonly Uint8Array[];
  readonly granule: bigint;
  readonly flags?: number;
  readonly serial?: number;
}): Buffer {
  const lacing = options.packets.flatMap(({ length }) => [
    ...Array.from({ length: Math.floor(length / 255) }, () => 255),
    length % 255,
  ]);
  const head = Buffer.alloc(27);
  head.write('OggS', 0, 'latin1');
  head[5] = options.flags ?? 0;
  head.writeBigUInt64LE(options.granule, 6);
  head.writeUInt32LE(options.serial ?? 1, 14);
  head[26] = lacing.length;
  return Buffer.concat([head, Buffer.from(lacing), ...options.packets]);
}

/** Opus packets of 20 ms each, a page each, behind a pre-skip of 312 samples. */
export function opusFile(packets: number, lastGranule = BigInt(packets * 960)): Buffer {
  const identification = Buffer.alloc(19);
  identification.write('OpusHead\x01\x01', 0, 'latin1');
  identification.writeUInt16LE(312, 10);
  const pages = [
    oggPage({ packets: [identification], granule: 0n, flags: 2 }),
    oggPage({
      packets: [Buffer.concat([Buffer.from('OpusTags'), Buffer.alloc(300)])],
      granule: 0n,
    }),
  ];
  for (let i = 1; i <= packets; i++) {
    // Configuration 1 with one frame: SILK, 20 ms.
    const granule = i === packets ? lastGranule : BigInt(i * 960);
    pages.push(oggPage({ packets: [Buffer.from([0x08, 1, 2])], granule }));
  }
  return Buffer.concat(pages);
}

export function vorbisFile(lastGranule: bigint, rateHz = 44_100): Buffer {
  const identification = Buffer.alloc(30);
  identification.write('\x01vorbis', 0, 'latin1');
  identification.writeUInt32LE(rateHz, 12);
  return Buffer.concat([
    oggPage({ packets: [identification], granule: 0n, flags: 2 }),
    oggPage({ packets: [Buffer.alloc(20)], granule: lastGranule }),
  ]);
}

export function box(type: string, ...content: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(content);
  const head = Buffer.alloc(8);
  head.writeUInt32BE(8 + body.length, 0);
  head.write(type, 4, 'latin1');
  return Buffer.concat([head, body]);
}

/** Numbers of 32 bits. */
export function words(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4);
  for (const [i, value] of values.entries()) bytes.writeUInt32BE(value, i * 4);
  return bytes;
}

/** An M4A file: what its heads claim, and what its table of samples or its fragments come to. */
export function mp4File(options: {
  readonly scale?: number;
  readonly movieUnits?: number;
  readonly trackUnits?: number;
  /** Runs of samples: how many, and how long each. */
  readonly table?: readonly (readonly [count: number, units: number])[];
  /** Samples of each fragment, 1024 units long by default. */
  readonly fragments?: readonly number[];
  readonly handler?: string;
}): Buffer {
  const { scale = 16_000, movieUnits = 0, trackUnits = 0, table = [], fragments = [] } = options;
  const handler = Buffer.concat([words(0, 0), Buffer.from(options.handler ?? 'soun'), words(0)]);
  const times = words(0, table.length, ...table.flat());
  const track = box(
    'trak',
    box('tkhd', words(0, 0, 0, 1, 0, 0)),
    box(
      'mdia',
      box('mdhd', words(0, 0, 0, scale, trackUnits)),
      box('hdlr', handler),
      box('minf', box('stbl', box('stts', times))),
    ),
  );
  const movie = box(
    'moov',
    box('mvhd', words(0, 0, 0, scale, movieUnits)),
    track,
    box('mvex', box('trex', words(0, 1, 1, 1_024, 0, 0))),
  );
  const moofs = fragments.map((samples) =>
    box('moof', box('traf', box('tfhd', words(0, 1)), box('trun', words(0, samples)))),
  );
  return Buffer.concat([box('ftyp', Buffer.from('M4A ')), movie, ...moofs]);
}

/** An element of EBML; without content its length is unknown. */
function ebml(id: number, content?: Uint8Array): Buffer {
  const text = id.toString(16);
  const name = Buffer.from(text.length % 2 === 0 ? text : `0${text}`, 'hex');
  if (content === undefined) return Buffer.concat([name, Buffer.from('01ffffffffffffff', 'hex')]);
  const size = Buffer.alloc(4);
  size.writeUInt32BE((0x10000000 | content.length) >>> 0);
  return Buffer.concat([name, size, content]);
}

/** A WebM file as a recorder streams it: blocks of Opus at these milliseconds, and a claim where there is one. */
export function webmFile(blocksMs: readonly number[], claimedMs?: number): Buffer {
  const claim = Buffer.alloc(8);
  claim.writeDoubleBE(claimedMs ?? 0);
  const blocks = blocksMs.map((ms) => {
    const block = Buffer.from([0x81, 0, 0, 0x80, 0x08, 0]);
    block.writeInt16BE(ms, 1);
    return ebml(0xa3, block);
  });
  return Buffer.concat([
    ebml(0x1a45dfa3, Buffer.alloc(4)),
    ebml(0x18538067),
    ebml(
      0x1549a966,
      Buffer.concat([
        ebml(0x2ad7b1, Buffer.from([0x0f, 0x42, 0x40])),
        ...(claimedMs === undefined ? [] : [ebml(0x4489, claim)]),
      ]),
    ),
    ebml(0x1654ae6b, Buffer.from('A_OPUS')),
    ebml(0x1f43b675),
    ebml(0xe7, Buffer.from([0])),
    ...blocks,
  ]);
}
