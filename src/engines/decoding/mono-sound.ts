import { type CodedStream, type PacketBatch, SoundRefused } from '../../../media/coded/packets.ts';
import { soundIn } from '../../../media/coded/sound-in.ts';
import type { SoundBlock } from '../../../media/hearing-frames.ts';
import { clampSample } from '../../../media/pcm.ts';
import { monoBlocks } from '../../../media/wav-sound.ts';
import { openAac } from './aac-decoding.ts';
import { openFlac } from './flac-decoding.ts';
import { openMp3 } from './mp3-decoding.ts';
import { openOpus } from './opus-decoding.ts';
import type { DecodedSound, OpenDecoder, PacketDecoder } from './packet-decoder.ts';
import { openVorbis } from './vorbis-decoding.ts';

const DECODERS: Readonly<Record<CodedStream['codec'], OpenDecoder>> = {
  aac: openAac,
  flac: openFlac,
  mp3: openMp3,
  opus: openOpus,
  vorbis: openVorbis,
};
/** Samples of a WAV file that are read at a time: a multiple of every group of samples that is averaged into one. */
const WAV_SAMPLES = 40_320;
const RATE_HZ = { min: 1_000, max: 384_000 };

/**
 * Decodes a file to mono blocks, one batch at a time. A block may be empty: it only marks some milliseconds of work. Throws
 * SoundRefused.
 */
export async function* monoSound(file: Buffer): AsyncGenerator<SoundBlock> {
  const sound = soundIn(file);
  if ('kind' in sound) {
    for (const samples of monoBlocks(sound, WAV_SAMPLES)) {
      yield { rateHz: sound.sampleRateHz, samples };
    }
    return;
  }
  let stream: StreamSound | undefined;
  for (const batch of sound) {
    if (stream?.stream !== batch.stream) {
      if (stream !== undefined) yield* stream.finish();
      stream = new StreamSound(batch.stream, await DECODERS[batch.stream.codec](batch.stream));
    }
    yield* stream.decode(batch);
  }
  if (stream !== undefined) yield* stream.finish();
}

/** Decodes the packets of one stream, mixes them down, and cuts them to the start and end that the stream states. */
class StreamSound {
  readonly stream: CodedStream;
  readonly #decoder: PacketDecoder;
  #decoded = 0;

  constructor(stream: CodedStream, decoder: PacketDecoder) {
    this.stream = stream;
    this.#decoder = decoder;
  }

  async *decode({ packets, endSample }: PacketBatch): AsyncGenerator<SoundBlock> {
    const { packetsAtOnce } = this.#decoder;
    for (let at = 0; at < packets.length; at += packetsAtOnce) {
      const decoded = await this.#decoder.decode(packets.slice(at, at + packetsAtOnce));
      yield this.#block(decoded, endSample);
    }
  }

  async *finish(): AsyncGenerator<SoundBlock> {
    yield this.#block(await this.#decoder.finish(), undefined);
  }

  #block(decoded: DecodedSound | undefined, endSample: number | undefined): SoundBlock {
    const [first] = decoded?.channels ?? [];
    if (decoded === undefined || first === undefined || first.length === 0) return SILENT;
    const { channels, rateHz } = decoded;
    if (rateHz < RATE_HZ.min || rateHz > RATE_HZ.max) {
      throw new SoundRefused(`The sound has ${rateHz} Hz; send 1000 to 384000 Hz.`);
    }
    const from = Math.max(0, this.stream.skippedSamples - this.#decoded);
    const end = endSample === undefined ? first.length : endSample - this.#decoded;
    this.#decoded += first.length;
    return { rateHz, samples: mixedDown(channels, from, Math.min(end, first.length)) };
  }
}

const SILENT: SoundBlock = { rateHz: RATE_HZ.min, samples: new Int16Array(0) };

function mixedDown(channels: readonly Float32Array[], from: number, end: number): Int16Array {
  const mono = new Int16Array(Math.max(0, end - from));
  const scale = 32_768 / channels.length;
  for (let i = 0; i < mono.length; i++) {
    let sum = 0;
    for (const channel of channels) sum += channel[from + i] as number;
    mono[i] = clampSample(sum * scale);
  }
  return mono;
}
