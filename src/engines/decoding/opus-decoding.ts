import { OpusDecoder } from 'opus-decoder';
import { BATCH_PACKETS, type CodedStream, SoundRefused } from '../../../media/coded/packets.ts';
import { OPUS_HZ } from '../../../media/duration/opus.ts';
import { MOST_CHANNELS, type OpenDecoder, promptDecoder } from './packet-decoder.ts';

/** Bytes per channel of the longest packet: 120 ms in frames of 2.5 ms of the maximum size. */
const CHANNEL_BYTES = 3_840;
const FAMILY_AT = 18;
/** Entry of a channel map that marks a silent channel. */
const SILENT = 255;

export const openOpus: OpenDecoder = async (stream) => {
  const { channels } = stream;
  if (channels < 1 || channels > MOST_CHANNELS) {
    throw new SoundRefused(`The Opus stream claims ${channels} channels; send at most 8.`);
  }
  const decoder = new OpusDecoder({ channels, preSkip: 0, ...mapOf(stream) });
  await decoder.ready;
  return promptDecoder(BATCH_PACKETS, (packets) => {
    // For an empty packet the decoder would invent the lost audio.
    const fitting = packets.filter(
      ({ length }) => length > 0 && length <= CHANNEL_BYTES * channels,
    );
    const { channelData } = decoder.decodeFrames(fitting);
    return { rateHz: OPUS_HZ, channels: channelData };
  });
};

/** Returns the channel map of a multistream. One or two channels need no map. */
function mapOf({ channels, setup: [head = Buffer.alloc(0)] }: CodedStream) {
  if ((head[FAMILY_AT] ?? 0) === 0 && channels <= 2) return {};
  const [streamCount = 0, coupledStreamCount = 0, ...map] = head.subarray(FAMILY_AT + 1);
  const channelMappingTable = map.slice(0, channels);
  const coded = streamCount + coupledStreamCount;
  const isSound =
    streamCount > 0 &&
    streamCount <= MOST_CHANNELS &&
    coupledStreamCount <= streamCount &&
    channelMappingTable.length === channels &&
    channelMappingTable.every((index) => index < coded || index === SILENT);
  if (!isSound) throw new SoundRefused('The Opus stream has a channel map that cannot be.');
  return { streamCount, coupledStreamCount, channelMappingTable };
}
