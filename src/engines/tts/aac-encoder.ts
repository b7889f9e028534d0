import { adtsFrame } from '../../../media/adts.ts';
import { writeFloats } from '../../../media/pcm.ts';
import { ENGINE_LIMITS } from '../limits.ts';
import {
  copyOut,
  createFrameEncoder,
  type EncoderModule,
  type SoundEncoder,
} from './sound-encoder.ts';

export type AacModule = EncoderModule & {
  _init_encoder(channels: number, sampleRateHz: number, bitsPerSecond: number): number;
  _get_encoder_frame_size(encoder: number): number;
  _get_encode_input_ptr(encoder: number, bytes: number): number;
  _send_frame(encoder: number, at: bigint): number;
  _flush_encoder_start(encoder: number): void;
  _receive_packet(encoder: number): number;
  _get_encoded_data(encoder: number): number;
  _close_encoder(encoder: number): void;
};

/** Creates an AAC-LC encoder for streams without a container: each frame has its own ADTS header. */
export function createAacEncoder(module: AacModule, sampleRateHz: number): SoundEncoder {
  const encoder = module._init_encoder(1, sampleRateHz, ENGINE_LIMITS.encoding.bitsPerSecond.aac);
  if (encoder === 0) throw new Error('the AAC encoder does not start');
  const samples = module._get_encoder_frame_size(encoder);
  const floats = new Float32Array(samples);
  let sent = 0;

  function receive(): Uint8Array[] {
    const frames: Uint8Array[] = [];
    for (;;) {
      const length = module._receive_packet(encoder);
      if (length < 0) throw new Error(`the AAC encoder failed with ${length}`);
      if (length === 0) return frames;
      const payload = copyOut(module, module._get_encoded_data(encoder), length);
      frames.push(adtsFrame(payload, sampleRateHz));
    }
  }

  return createFrameEncoder(samples, {
    encode(frame) {
      writeFloats(frame, floats);
      const source = module._get_encode_input_ptr(encoder, floats.byteLength);
      if (source === 0) throw new Error('the AAC encoder has no memory');
      module.HEAPU8.set(new Uint8Array(floats.buffer), source);
      const status = module._send_frame(encoder, BigInt(sent));
      if (status < 0) throw new Error(`the AAC encoder failed with ${status}`);
      sent += samples;
      return receive();
    },
    flush() {
      module._flush_encoder_start(encoder);
      return receive();
    },
    close: () => module._close_encoder(encoder),
  });
}
