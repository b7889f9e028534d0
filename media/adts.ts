export const ADTS_RATES_HZ = [
  96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000,
  7_350,
];
const HEAD_BYTES = 7;
const LOW_COMPLEXITY = 1;
/** Value of the header's buffer-fullness field for a stream whose bit rate varies. */
const FULLNESS_UNKNOWN = 0x7ff;

/** Longest payload of a frame in bytes. The header's frame length has 13 bits and includes the header. */
export const MOST_ADTS_PAYLOAD = 0x1fff - HEAD_BYTES;

/** Returns one frame of low-complexity AAC with an ADTS header, so that frames can be joined anywhere in a stream. */
export function adtsFrame(payload: Uint8Array, sampleRateHz: number, channels = 1): Uint8Array {
  const rate = ADTS_RATES_HZ.indexOf(sampleRateHz);
  if (rate < 0) throw new RangeError(`AAC has no rate of ${sampleRateHz} Hz`);
  const bytes = HEAD_BYTES + payload.length;
  const frame = new Uint8Array(bytes);
  frame[0] = 0xff;
  // MPEG-4, without a checksum.
  frame[1] = 0xf1;
  frame[2] = (LOW_COMPLEXITY << 6) | (rate << 2) | (channels >> 2);
  frame[3] = ((channels & 3) << 6) | (bytes >> 11);
  frame[4] = (bytes >> 3) & 0xff;
  frame[5] = ((bytes & 7) << 5) | (FULLNESS_UNKNOWN >> 6);
  frame[6] = (FULLNESS_UNKNOWN & 63) << 2;
  frame.set(payload, HEAD_BYTES);
  return frame;
}
