import { FLACDecoder } from '@wasm-audio-decoders/flac';
import { type OpenDecoder, promptDecoder } from './packet-decoder.ts';

/** Packets decoded at once. A FLAC frame may hold 65,535 samples of eight channels, two megabytes. */
const PACKETS = 4;

export const openFlac: OpenDecoder = async ({ rateHz }) => {
  const decoder = new FLACDecoder();
  await decoder.ready;
  return promptDecoder(PACKETS, async (packets) => {
    const { channelData } = await decoder.decodeFrames([...packets]);
    return { rateHz, channels: channelData };
  });
};
