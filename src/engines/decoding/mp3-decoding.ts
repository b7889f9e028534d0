import { MPEGDecoder } from 'mpg123-decoder';
import { BATCH_PACKETS } from '../../../media/coded/packets.ts';
import { type OpenDecoder, promptDecoder } from './packet-decoder.ts';

/** Opens a decoder of MPEG audio, layers 1 to 3. The encoder's silence, which an Info frame states, is cut off. */
export const openMp3: OpenDecoder = async () => {
  const decoder = new MPEGDecoder();
  await decoder.ready;
  return promptDecoder(BATCH_PACKETS, (packets) => {
    const { channelData, sampleRate } = decoder.decodeFrames([...packets]);
    return { rateHz: sampleRate, channels: channelData };
  });
};
