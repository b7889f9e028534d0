import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { adtsFrame, MOST_ADTS_PAYLOAD } from '../../../media/adts.ts';
import { readAacConfig } from '../../../media/coded/aac-config.ts';
import { BATCH_PACKETS, type CodedStream, SoundRefused } from '../../../media/coded/packets.ts';
import { readAdtsFrame } from '../../../media/duration/adts.ts';
import type { DecodedSound, OpenDecoder, PacketDecoder } from './packet-decoder.ts';

/** FFmpeg, as far as it reads files of sound. It decodes whole files, so it is given one of some frames at a time. */
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
/** Frames of one file: some 5 s. */
const FILE_FRAMES = 256;
/** The frames before them, which the decoder needs to be where it would be. It drops the sound of the first one. */
const LEAD_FRAMES = 8;
/** The program takes a file of two frames for none. */
const LEAST_FRAMES = 3;

export const openAac: OpenDecoder = async (stream) => new AacDecoder(framing(stream));

/** Makes ADTS frames of packets, which they are already where no container told what they are. */
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
    // Twice as many where the upper half of the spectrum was rebuilt, which the header does not say.
    const times = samples.length > (file.length - 1) * FRAME_SAMPLES ? 2 : 1;
    const before = Math.max(0, missing + lead.length - 1);
    const sound = samples.subarray(before * FRAME_SAMPLES * times);
    return { rateHz: head.sampleRateHz * times, channels: [sound] };
  }

  /** The channels mixed into one; undefined where nothing of the file can be decoded. */
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
      // It throws texts, and traps where it went on after an error: the next frames have a program of their own.
      this.#program = undefined;
      return undefined;
    }
  }
}

let wasmUrl: Promise<string> | undefined;

/** Each stream has a program of its own, so that a broken file breaks no other. */
async function startProgram(file: Buffer): Promise<Program> {
  const require = createRequire(import.meta.url);
  // The package was written for bundlers: it looks for these two of the older kind of module.
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
    // Each program adds two, which would keep it for as long as the process lives.
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
