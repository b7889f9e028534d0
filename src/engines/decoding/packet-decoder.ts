import type { CodedStream } from '../../../media/coded/packets.ts';

/** Decoded samples in -1..1, an array for each channel. */
export type DecodedSound = {
  readonly rateHz: number;
  readonly channels: readonly Float32Array[];
};

/** The decoder of one stream. After any error but SoundRefused its program is broken and is not used again. */
export interface PacketDecoder {
  /** Packets that may be decoded together, so that their sound stays within some megabytes. */
  readonly packetsAtOnce: number;
  /** Decodes packets. Resolves to undefined while they give no audio. Damaged packets are skipped. */
  decode(packets: readonly Uint8Array[]): Promise<DecodedSound | undefined>;
  /** Decodes the packets that `decode` kept back. */
  finish(): Promise<DecodedSound | undefined>;
}

/** Throws SoundRefused for a stream whose setup is invalid. */
export type OpenDecoder = (stream: CodedStream) => Promise<PacketDecoder>;

/** Sound for ears has at most 7.1 channels; more would only cost memory. */
export const MOST_CHANNELS = 8;

/** Returns a decoder whose program keeps no packets back. */
export const promptDecoder = (
  packetsAtOnce: number,
  decode: (packets: readonly Uint8Array[]) => DecodedSound | Promise<DecodedSound>,
): PacketDecoder => ({
  packetsAtOnce,
  decode: async (packets) => decode(packets),
  finish: async () => undefined,
});
