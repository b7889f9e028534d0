import { copyOut, type EncoderModule, type SoundEncoder } from './sound-encoder.ts';

export type FlacModule = EncoderModule & {
  _init_encoder(channels: number, sampleRateHz: number, bitsPerSample: number): number;
  _get_encode_input_ptr(encoder: number, bytes: number): number;
  _send_samples(encoder: number, samples: number): number;
  _get_frame_count(encoder: number): number;
  _get_frame_size(encoder: number, frame: number): number;
  _get_output_data(encoder: number): number;
  _get_header_size(encoder: number): number;
  _get_header_data(encoder: number): number;
  /** Ends the stream. The encoder cannot begin another stream afterwards. */
  _finish_encoder(encoder: number): number;
};

/**
 * Creates a FLAC encoder whose head leaves the length open. The program frees no encoder: its memory is freed with the program.
 */
export function createFlacEncoder(module: FlacModule, sampleRateHz: number): SoundEncoder {
  const encoder = module._init_encoder(1, sampleRateHz, 16);
  if (encoder === 0) throw new Error('the FLAC encoder does not start');
  let isHeadOwed = true;

  function head(): Uint8Array {
    if (!isHeadOwed) return new Uint8Array(0);
    isHeadOwed = false;
    const bytes = module._get_header_size(encoder);
    return copyOut(module, module._get_header_data(encoder), bytes);
  }

  function written(): Uint8Array {
    let bytes = 0;
    for (let i = 0; i < module._get_frame_count(encoder); i++) {
      bytes += module._get_frame_size(encoder, i);
    }
    return copyOut(module, module._get_output_data(encoder), bytes);
  }

  return {
    push(pcm) {
      const begun = head();
      if (pcm.length === 0) return begun;
      // The program takes 16-bit samples in the upper half of 32 bits, and shifts them down itself.
      const wide = Int32Array.from(pcm, (sample) => sample << 16);
      const source = module._get_encode_input_ptr(encoder, wide.byteLength);
      module.HEAPU8.set(new Uint8Array(wide.buffer), source);
      if (module._send_samples(encoder, pcm.length) < 0) throw new Error('the FLAC encoder failed');
      return Buffer.concat([begun, written()]);
    },
    finish() {
      const begun = head();
      if (module._finish_encoder(encoder) < 0) throw new Error('the FLAC encoder cannot end');
      return Buffer.concat([begun, written()]);
    },
    close() {},
  };
}
