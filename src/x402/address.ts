import { loadKeccak } from './keccak.ts';

export const ZERO_ADDRESS = `0x${'0'.repeat(40)}`;

/** An address in lower case, as everything inside spells it; undefined for what is none. */
export function parseAddress(value: unknown): string | undefined {
  return typeof value === 'string' && /^0x[0-9a-fA-F]{40}$/.test(value)
    ? value.toLowerCase()
    : undefined;
}

/** The spelling of EIP-55, in which every published client writes addresses. */
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
