import { OggOpusWriter } from '../../../media/ogg/ogg-opus.ts';
import { writePcmBytes } from '../../../media/pcm.ts';
import { ENGINE_LIMITS } from '../limits.ts';
import { FrameCutter, type SoundEncoder } from './sound-encoder.ts';

/** The part of the package's class that is used here. */
export type OpusScript = {
  encode(pcm: Uint8Array, samples: number): Uint8Array;
  encoderCTL(request: number, value: number): void;
  delete(): void;
};
export type OpusScriptClass = new (
  sampleRateHz: number,
  channels: number,
  application: number,
) => OpusScript;

const APPLICATION_AUDIO = 2_049;
const SET_BITRATE = 4_002;
const SET_COMPLEXITY = 4_010;
const FRAME_MS = 20;
/** Seconds that the encoder is behind its input. The program has no way to read them. */
const LOOKAHEAD_SECONDS = 312 / 48_000;

/** Creates an encoder of Opus in Ogg with 20 ms frames. `serial` identifies the stream within its file. */
export function createOpusEncoder(
  Encoder: OpusScriptClass,
  sampleRateHz: number,
  serial: number,
): SoundEncoder {
  const encoder = new Encoder(sampleRateHz, 1, APPLICATION_AUDIO);
  encoder.encoderCTL(SET_BITRATE, ENGINE_LIMITS.encoding.bitsPerSecond.opus);
  encoder.encoderCTL(SET_COMPLEXITY, ENGINE_LIMITS.encoding.opusComplexity);
  const samples = (sampleRateHz * FRAME_MS) / 1_000;
  const lookahead = sampleRateHz * LOOKAHEAD_SECONDS;
  const writer = new OggOpusWriter({ inputHz: sampleRateHz, lookahead, serial });
  const cutter = new FrameCutter(samples);
  const bytes = new Uint8Array(2 * samples);
  let head: Uint8Array | undefined = writer.head();
  let pushed = 0;
  let encoded = 0;
  let packets: Uint8Array[] = [];

  function encode(frame: Int16Array) {
    writePcmBytes(frame, bytes);
    packets.push(encoder.encode(bytes, samples));
    encoded += samples;
  }

  function withHead(pages: Uint8Array): Uint8Array {
    const file = head === undefined ? pages : Buffer.concat([head, pages]);
    head = undefined;
    packets = [];
    return file;
  }

  return {
    push(pcm) {
      pushed += pcm.length;
      cutter.push(pcm, encode);
      return withHead(writer.sound(packets, samples));
    },
    finish() {
      cutter.flush(encode);
      // The encoder's output lags behind its input by `lookahead` samples, so one more packet of silence brings out the last
      // samples.
      while (encoded < pushed + lookahead) encode(new Int16Array(samples));
      return withHead(writer.end(packets, samples, pushed));
    },
    close: () => encoder.delete(),
  };
}
