/** Last address that ERC-1352 reserves for precompiles: no key and no wallet contract has an address up to it. */
const LAST_RESERVED = 0xffffn;

/**
 * Returns true when an address belongs to no key: the zero address, which a failed `ecrecover` answers, and the range of the
 * precompiles, which answer calls without being wallets.
 */
export const isReservedAddress = (address: string): boolean => BigInt(address) <= LAST_RESERVED;
