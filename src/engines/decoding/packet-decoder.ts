import type { CodedStream } from '../../../media/coded/packets.ts';

/** What packets sound like: samples in -1..1, an array for each channel. */
export type DecodedSound = {
  readonly rateHz: number;
  readonly channels: readonly Float32Array[];
};

/** The decoder of one stream. What it throws but SoundRefused means that its program broke, and it is not used again. */
export interface PacketDecoder {
  /** Packets that may be decoded together, so that their sound stays within some megabytes. */
  readonly packetsAtOnce: number;
  /** Undefined: nothing sounds yet. Packets that are damaged are passed over. */
  decode(packets: readonly Uint8Array[]): Promise<DecodedSound | undefined>;
  /** What was kept back until more packets come. */
  finish(): Promise<DecodedSound | undefined>;
}

/** Throws SoundRefused where the stream states what cannot be. */
export type OpenDecoder = (stream: CodedStream) => Promise<PacketDecoder>;

/** More are an attack on the memory: no format of sound for ears has them. */
export const MOST_CHANNELS = 8;

/** A decoder whose program keeps nothing back. */
export const promptDecoder = (
  packetsAtOnce: number,
  decode: (packets: readonly Uint8Array[]) => DecodedSound | Promise<DecodedSound>,
): PacketDecoder => ({
  packetsAtOnce,
  decode: async (packets) => decode(packets),
  finish: async () => undefined,
});
