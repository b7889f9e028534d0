import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { adtsFrame, MOST_ADTS_PAYLOAD } from '../../../media/adts.ts';
import { readAacConfig } from '../../../media/coded/aac-config.ts';
import { BATCH_PACKETS, type CodedStream, SoundRefused } from '../../../media/coded/packets.ts';
import { readAdtsFrame } from '../../../media/duration/adts.ts';
import type { DecodedSound, OpenDecoder, PacketDecoder } from './packet-decoder.ts';

/** FFmpeg's readers of audio files. They decode whole files, so each call receives a file of `FILE_FRAMES` frames. */
type Program = {
  readonly FS: { writeFile(path: string, bytes: Int8Array): void };
  decodeAudio(
    path: string,
    fromSeconds: number,
    seconds: number,
    options: { readonly multiChannel: boolean },
  ): { readonly status: { readonly status: number }; readonly samples: Floats };
};

type Floats = { size(): number; get(index: number): number; delete(): void };

const PACKAGE = '@humansignal/audio-file-decoder';
const PATH = 'audio';
const FRAME_SAMPLES = 1_024;
/** Frames in one file for FFmpeg: 6 s at 44.1 kHz. */
const FILE_FRAMES = 256;
/** Frames of the previous file that are decoded again, because a frame overlaps its neighbours. Their audio is dropped. */
const LEAD_FRAMES = 8;
/** Smallest number of frames in a file: FFmpeg does not recognise a file of two frames. */
const LEAST_FRAMES = 3;

export const openAac: OpenDecoder = async (stream) => new AacDecoder(framing(stream));

/** Returns a function that puts ADTS headers before packets from a container. Packets without a `setup` already have them. */
function framing({ setup: [config] }: CodedStream): (packet: Uint8Array) => Uint8Array {
  if (config === undefined) return (packet) => packet;
  const sound = readAacConfig(config);
  if (sound === undefined) {
    throw new SoundRefused('The AAC sound is not of low complexity (AAC-LC, HE-AAC).');
  }
  return (packet) => adtsFrame(packet, sound.rateHz, sound.channels);
}

class AacDecoder implements PacketDecoder {
  readonly packetsAtOnce = BATCH_PACKETS;
  readonly #framed: (packet: Uint8Array) => Uint8Array;
  #program: Program | undefined;
  #lead: Uint8Array[] = [];
  #frames: Uint8Array[] = [];

  constructor(framed: (packet: Uint8Array) => Uint8Array) {
    this.#framed = framed;
  }

  async decode(packets: readonly Uint8Array[]): Promise<DecodedSound | undefined> {
    const fitting = packets.filter(({ length }) => length > 0 && length <= MOST_ADTS_PAYLOAD);
    this.#frames.push(...fitting.map(this.#framed));
    return this.#frames.length < FILE_FRAMES ? undefined : this.finish();
  }

  async finish(): Promise<DecodedSound | undefined> {
    const lead = this.#lead;
    const frames = this.#frames;
    const [first] = frames;
    const head = first && readAdtsFrame(Buffer.from(first), 0);
    if (first === undefined || head === undefined) return undefined;
    this.#lead = [...lead, ...frames].slice(-LEAD_FRAMES);
    this.#frames = [];
    const missing = Math.max(0, LEAST_FRAMES - lead.length - frames.length);
    const file = [...Array<Uint8Array>(missing).fill(first), ...lead, ...frames];
    const samples = await this.#decodeFile(Buffer.concat(file));
    if (samples === undefined) return undefined;
    // HE-AAC decodes to twice the samples, at twice the sample rate of its header.
    const times = samples.length > (file.length - 1) * FRAME_SAMPLES ? 2 : 1;
    const before = Math.max(0, missing + lead.length - 1);
    const sound = samples.subarray(before * FRAME_SAMPLES * times);
    return { rateHz: head.sampleRateHz * times, channels: [sound] };
  }

  /** Returns the file's channels mixed into one; undefined when nothing of the file can be decoded. */
  async #decodeFile(file: Buffer): Promise<Float32Array | undefined> {
    try {
      if (this.#program === undefined) this.#program = await startProgram(file);
      else this.#program.FS.writeFile(PATH, new Int8Array(file));
      const { status, samples } = this.#program.decodeAudio(PATH, 0, -1, { multiChannel: false });
      const floats = new Float32Array(samples.size());
      for (let i = 0; i < floats.length; i++) floats[i] = samples.get(i);
      samples.delete();
      if (status.status < 0) this.#program = undefined;
      return floats.length > 0 ? floats : undefined;
    } catch {
      // FFmpeg throws strings, and traps when it is called after an error. The next frames use a new program.
      this.#program = undefined;
      return undefined;
    }
  }
}

let wasmUrl: Promise<string> | undefined;

/** Starts a decoder program for one stream, so that a broken file cannot break other streams. */
async function startProgram(file: Buffer): Promise<Program> {
  const require = createRequire(import.meta.url);
  // The package was written for bundlers: it reads these two variables of CommonJS modules as globals.
  Object.assign(globalThis, { require, __dirname: dirname(require.resolve(PACKAGE)) });
  wasmUrl ??= readFile(require.resolve(`${PACKAGE}/decode-audio.wasm`), 'base64').then(
    (wasm) => `data:application/wasm;base64,${wasm}`,
  );
  const { getAudioDecoder } = await import('@humansignal/audio-file-decoder');
  const known = listeners();
  try {
    const decoder = await getAudioDecoder(await wasmUrl, Uint8Array.from(file).buffer);
    return (decoder as unknown as { readonly _module: Program })._module;
  } finally {
    // Each program adds two listeners to the process, which would keep its memory alive until the process ends.
    for (const [event, added] of listeners()) {
      const before = known.get(event) ?? [];
      for (const one of added) if (!before.includes(one)) process.removeListener(event, one);
    }
  }
}

type Listener = (...told: unknown[]) => void;

const listeners = (): ReadonlyMap<string, readonly Listener[]> =>
  new Map(
    ['uncaughtException', 'unhandledRejection'].map((event) => [
      event,
      process.listeners(event as 'exit') as Listener[],
    ]),
  );
