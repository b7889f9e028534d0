/** Encoded sound of a file: packets of a codec in batches, independent of the container. */

export const PACKET_CODECS = ['aac', 'flac', 'mp3', 'opus', 'vorbis'] as const;

export type PacketCodec = (typeof PACKET_CODECS)[number];

/** One stream of packets. A chained file has several streams, one after the other. */
export type CodedStream = {
  readonly codec: PacketCodec;
  /** The rate that the file states; 0 when only the packets state a rate. */
  readonly rateHz: number;
  readonly channels: number;
  /** Header packets that a decoder needs before the first packet. Empty when each packet has its own header. */
  readonly setup: readonly Buffer[];
  /** Number of decoded samples at the beginning that are not played. */
  readonly skippedSamples: number;
};

export type PacketBatch = {
  readonly stream: CodedStream;
  /** Empty when a part of the file without packets was read. */
  readonly packets: readonly Buffer[];
  /**
   * Number of decoded samples, skipped samples included, after which the stream ends. Absent when the file does not state it.
   */
  readonly endSample?: number;
};

/** Thrown when a file holds no sound that can be decoded. The message is for the client that sent the file. */
export class SoundRefused extends Error {
  override readonly name = 'SoundRefused';
}

/** Packets of one batch. A batch is decoded in a few milliseconds. */
export const BATCH_PACKETS = 32;
