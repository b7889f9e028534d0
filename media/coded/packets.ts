/** Coded sound as it lies in files: packets of a codec, in batches, whatever container they come from. */

export const PACKET_CODECS = ['aac', 'flac', 'mp3', 'opus', 'vorbis'] as const;

export type PacketCodec = (typeof PACKET_CODECS)[number];

/** One stream of packets. A chained file has several streams, one after the other. */
export type CodedStream = {
  readonly codec: PacketCodec;
  /** The rate that the file states; 0 when only the packets state a rate. */
  readonly rateHz: number;
  readonly channels: number;
  /** Headers that a decoder needs before the first packet. Empty: each packet has its own header. */
  readonly setup: readonly Buffer[];
  /** Decoded samples at the beginning that are not played. */
  readonly skippedSamples: number;
};

export type PacketBatch = {
  readonly stream: CodedStream;
  /** Empty when a part of the file without packets was read. */
  readonly packets: readonly Buffer[];
  /** Decoded samples after which the stream ends, the skipped ones among them, where the file says so. */
  readonly endSample?: number;
};

/** A file holds no sound that can be decoded. The message is for its sender. */
export class SoundRefused extends Error {
  override readonly name = 'SoundRefused';
}

/** Packets of one batch: a batch is decoded in a few milliseconds. */
export const BATCH_PACKETS = 32;
