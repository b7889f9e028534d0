/** Bloom filter of a block's header over the addresses and topics of its logs, as 256 bytes in hex. */
export type LogsBloom = string;

/** Bits of a filter that an address sets. */
export type BloomBits = readonly number[];

const BLOOM_BYTES = 256;
const BITS_AN_ITEM = 3;
const BIT_MASK = 2_047;

/**
 * Returns the bits of an address: the filter hashes the address and takes eleven bits of each of the first three pairs of
 * bytes.
 */
export async function bloomBitsOf(address: string): Promise<BloomBits> {
  const { keccak256 } = await import('viem/utils');
  const hash = keccak256(address as `0x${string}`, 'bytes');
  return Array.from({ length: BITS_AN_ITEM }, (_, i) => {
    const [high = 0, low = 0] = hash.subarray(2 * i, 2 * i + 2);
    return ((high << 8) | low) & BIT_MASK;
  });
}

/** Returns false when the block certainly has no log of the address, true when the block most likely has one. */
export const mayHoldLogs = (bloom: LogsBloom, bits: BloomBits): boolean =>
  bits.every((bit) => {
    const byte = BLOOM_BYTES - 1 - (bit >> 3);
    const value = Number.parseInt(bloom.slice(2 + 2 * byte, 4 + 2 * byte), 16);
    return (value & (1 << (bit & 7))) !== 0;
  });
