import type { CodedStream } from '../../../media/coded/packets.ts';

/** Decoded samples from -1 to 1, one array per channel. */
export type DecodedSound = {
  readonly rateHz: number;
  readonly channels: readonly Float32Array[];
};

/** Decoder of one stream. After any error except SoundRefused its program is broken and is not used again. */
export interface PacketDecoder {
  /** Upper bound of the packets decoded in one call, so that their audio takes at most some megabytes. */
  readonly packetsAtOnce: number;
  /** Decodes packets. Resolves to undefined while they give no audio. Damaged packets are skipped. */
  decode(packets: readonly Uint8Array[]): Promise<DecodedSound | undefined>;
  /** Decodes the packets that `decode` kept. */
  finish(): Promise<DecodedSound | undefined>;
}

/** Opens a decoder. Throws SoundRefused for a stream whose setup is invalid. */
export type OpenDecoder = (stream: CodedStream) => Promise<PacketDecoder>;

/** Upper bound of the channels of a stream: 7.1 surround has eight, and more would only cost memory. */
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
