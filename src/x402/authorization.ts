import { type Keccak, loadKeccak } from './keccak.ts';

/**
 * Token contract that authorizations are signed for (the EIP-712 domain). Create one object and reuse it: hashes are cached by
 * it.
 */
export type TokenDomain = {
  readonly name: string;
  readonly version: string;
  readonly chainId: number;
  readonly verifyingContract: string;
};

/** A transfer that its payer allows any holder of the signature to submit (EIP-3009). */
export type Authorization = {
  /** Address of the payer. Addresses and the nonce are in lower case. */
  readonly from: string;
  readonly to: string;
  readonly valueRaw: bigint;
  readonly validAfter: 0;
  /** Unix seconds from which the chain refuses the authorization. */
  readonly validBefore: number;
  /** Nonce of the authorization: 0x and 64 hex digits. */
  readonly nonce: string;
};

/**
 * Returns the domain of USDC on chain 8453. Name and version are constants, so that a vendor's text never enters a signature.
 */
export const usdcDomain = (usdc: string): TokenDomain => ({
  name: 'USD Coin',
  version: '2',
  chainId: 8453,
  verifyingContract: usdc.toLowerCase(),
});

const DOMAIN_FIELDS = [
  { name: 'name', type: 'string' },
  { name: 'version', type: 'string' },
  { name: 'chainId', type: 'uint256' },
  { name: 'verifyingContract', type: 'address' },
] as const;

/** Members of the signed struct in the order of hashing. */
const TRANSFER_FIELDS = [
  { name: 'from', type: 'address' },
  { name: 'to', type: 'address' },
  { name: 'value', type: 'uint256' },
  { name: 'validAfter', type: 'uint256' },
  { name: 'validBefore', type: 'uint256' },
  { name: 'nonce', type: 'bytes32' },
] as const;

/** Returns the transfer in the JSON form of `eth_signTypedData_v4`. */
export function typedTransfer(domain: TokenDomain, authorization: Authorization) {
  return {
    types: { EIP712Domain: DOMAIN_FIELDS, TransferWithAuthorization: TRANSFER_FIELDS },
    primaryType: 'TransferWithAuthorization',
    domain,
    message: authorizationInWords(authorization),
  } as const;
}

/** Returns the authorization with its numbers as decimal strings, as every transport of x402 spells them. */
export function authorizationInWords(authorization: Authorization) {
  const { from, to, valueRaw, validAfter, validBefore, nonce } = authorization;
  return {
    from,
    to,
    value: valueRaw.toString(),
    validAfter: validAfter.toString(),
    validBefore: validBefore.toString(),
    nonce,
  };
}

const TRANSFER_TYPE = typeText('TransferWithAuthorization', TRANSFER_FIELDS);
const DOMAIN_TYPE = typeText('EIP712Domain', DOMAIN_FIELDS);

const WORD = 32;

/** Hashes of the domains, computed once for each: five rounds of keccak that every payment would otherwise repeat. */
const separators = new WeakMap<TokenDomain, Uint8Array>();
let transferTypeHash: Uint8Array | undefined;

/** Returns the 32 bytes that the payer signs (EIP-712). */
export async function hashAuthorization(
  domain: TokenDomain,
  authorization: Authorization,
): Promise<Uint8Array> {
  const keccak = await loadKeccak();
  transferTypeHash ??= hashText(keccak, TRANSFER_TYPE);
  const { from, to, valueRaw, validAfter, validBefore, nonce } = authorization;
  const struct = words(
    transferTypeHash,
    hexBytes(from),
    hexBytes(to),
    number(valueRaw),
    number(validAfter),
    number(validBefore),
    hexBytes(nonce),
  );
  const signed = Buffer.alloc(2 + 2 * WORD);
  signed.set([0x19, 0x01]);
  signed.set(separatorOf(keccak, domain), 2);
  signed.set(keccak(struct), 2 + WORD);
  return keccak(signed);
}

function separatorOf(keccak: Keccak, domain: TokenDomain): Uint8Array {
  const known = separators.get(domain);
  if (known !== undefined) return known;
  const separator = keccak(
    words(
      hashText(keccak, DOMAIN_TYPE),
      hashText(keccak, domain.name),
      hashText(keccak, domain.version),
      number(domain.chainId),
      hexBytes(domain.verifyingContract),
    ),
  );
  separators.set(domain, separator);
  return separator;
}

function typeText(name: string, fields: readonly { name: string; type: string }[]): string {
  return `${name}(${fields.map((field) => `${field.type} ${field.name}`).join(',')})`;
}

const hashText = (keccak: Keccak, text: string): Uint8Array => keccak(Buffer.from(text));
const hexBytes = (hex: string): Uint8Array => Buffer.from(hex.slice(2), 'hex');
const number = (value: number | bigint): Uint8Array =>
  Buffer.from(value.toString(16).padStart(2 * WORD, '0'), 'hex');

/** Returns the values as words of 32 bytes, each right-aligned. */
function words(...values: readonly Uint8Array[]): Uint8Array {
  const bytes = Buffer.alloc(values.length * WORD);
  values.forEach((value, i) => {
    bytes.set(value, (i + 1) * WORD - value.length);
  });
  return bytes;
}
