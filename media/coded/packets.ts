/** Coded sound as it lies in files: packets of a codec, in batches, whatever container they come from. */

export const PACKET_CODECS = ['aac', 'flac', 'mp3', 'opus', 'vorbis'] as const;

export type PacketCodec = (typeof PACKET_CODECS)[number];

/** One stream of packets. A chained file has several, one after the other. */
export type CodedStream = {
  readonly codec: PacketCodec;
  /** The rate that the file states; 0 where only the packets state one. */
  readonly rateHz: number;
  readonly channels: number;
  /** Headers that a decoder needs before the first packet. Empty: each packet has its own header. */
  readonly setup: readonly Buffer[];
  /** Decoded samples at the beginning that are not played. */
  readonly skippedSamples: number;
};

export type PacketBatch = {
  readonly stream: CodedStream;
  /** May be none: the file was walked for a while without finding one. */
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
