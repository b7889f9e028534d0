import { loadKeccak } from './keccak.ts';

export const ZERO_ADDRESS = `0x${'0'.repeat(40)}`;

/** Returns an address in lower case, the spelling used in this server; undefined for an invalid address. */
export function parseAddress(value: unknown): string | undefined {
  return typeof value === 'string' && /^0x[0-9a-fA-F]{40}$/.test(value)
    ? value.toLowerCase()
    : undefined;
}

/** Returns the EIP-55 spelling of an address, which every published client uses. */
export async function checksumAddress(address: string): Promise<string> {
  const keccak = await loadKeccak();
  const digits = address.slice(2).toLowerCase();
  const hash = Buffer.from(keccak(Buffer.from(digits, 'latin1'))).toString('hex');
  let spelled = '0x';
  for (let i = 0; i < digits.length; i++) {
    const digit = digits.charAt(i);
    spelled += hash.charAt(i) >= '8' ? digit.toUpperCase() : digit;
  }
  return spelled;
}
