import { OggVorbisDecoder } from '@wasm-audio-decoders/ogg-vorbis';
import { BATCH_PACKETS, SoundRefused } from '../../../media/coded/packets.ts';
import { MOST_CHANNELS, type OpenDecoder, promptDecoder } from './packet-decoder.ts';

/** The package's decoder of packets. Its Ogg reader is not used, because packets also come from WebM. */
type Packets = {
  sendSetupHeader(header: Uint8Array): void;
  initDsp(): void;
  decodePackets(packets: readonly Uint8Array[]): { readonly channelData: readonly Float32Array[] };
};

/** Size of the decoder's input buffer in bytes. */
const PACKET_BYTES = 128 * 1024;
const CHANNELS_AT = 11;

export const openVorbis: OpenDecoder = async ({ rateHz, setup }) => {
  const [identification, , codebooks] = setup;
  const channels = identification?.[CHANNELS_AT] ?? 0;
  if (identification === undefined || codebooks === undefined) {
    throw new SoundRefused('The Vorbis stream has no whole head.');
  }
  if (channels < 1 || channels > MOST_CHANNELS) {
    throw new SoundRefused(`The Vorbis stream claims ${channels} channels; send at most 8.`);
  }
  const decoder = new OggVorbisDecoder();
  await decoder.ready;
  const packetDecoder = (decoder as unknown as { readonly _decoder: Packets })._decoder;
  packetDecoder.sendSetupHeader(identification);
  packetDecoder.sendSetupHeader(codebooks);
  packetDecoder.initDsp();
  return promptDecoder(BATCH_PACKETS, (packets) => {
    const fitting = packets.filter(({ length }) => length <= PACKET_BYTES);
    return { rateHz, channels: packetDecoder.decodePackets(fitting).channelData };
  });
};
