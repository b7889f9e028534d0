import { pointFromScalar, recover, signRecoverable } from 'tiny-secp256k1';

/** Loads viem's code at the first use or by `loadChainCode`, because loading takes some 100 ms. */
const viemUtils = () => import('viem/utils');

/** Loads the code for signatures and addresses, so that the first request does not wait for the code. */
export async function loadChainCode(): Promise<void> {
  await Promise.all([viemUtils(), import('viem')]);
}

/** Returns the hash that `personal_sign` (EIP-191) signs. */
export async function hashSignedText(text: string): Promise<Uint8Array> {
  const { hashMessage } = await viemUtils();
  return hashMessage(text, 'bytes');
}

/** Returns the address, in lower case, that made a 65-byte signature. Undefined when the bytes are no signature. */
export async function recoverSigner(
  hash: Uint8Array,
  signature: Uint8Array,
): Promise<string | undefined> {
  if (signature.length !== 65) return undefined;
  const v = signature[64] as number;
  const recoveryId = v >= 27 ? v - 27 : v;
  if (recoveryId !== 0 && recoveryId !== 1) return undefined;
  try {
    const publicKey = recover(hash, signature.subarray(0, 64), recoveryId, false);
    return publicKey === null ? undefined : await addressOf(publicKey);
  } catch {
    // The library throws on scalars outside of the curve's order.
    return undefined;
  }
}

/** Signs a hash as wallets do: 65 bytes as 0x hex, low s, v 27 or 28. The same input gives the same signature. */
export function signHash(hash: Uint8Array, privateKey: Uint8Array): string {
  const { signature, recoveryId } = signRecoverable(hash, privateKey);
  return `0x${Buffer.from(signature).toString('hex')}${(27 + recoveryId).toString(16)}`;
}

/** Half of the curve's order: the token refuses a signature whose s is above it. */
const HALF_ORDER = Buffer.from(
  '7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0',
  'hex',
);

/**
 * Returns a 65-byte signature in the only form that the token accepts, with v 27 or 28. Undefined when the signature has no
 * such form.
 */
export function tokenSignature(signature: Uint8Array): Uint8Array | undefined {
  const v = signature[64];
  if (signature.length !== 65 || v === undefined) return undefined;
  if (HALF_ORDER.compare(signature.subarray(32, 64)) < 0) return undefined;
  const taken = Uint8Array.from(signature);
  if (v < 27) taken[64] = v + 27;
  return taken;
}

/** Returns the address, in lower case, of a private key. Undefined when the 32 bytes are no private key. */
export async function addressOfPrivateKey(privateKey: Uint8Array): Promise<string | undefined> {
  try {
    const publicKey = pointFromScalar(privateKey, false);
    return publicKey === null ? undefined : await addressOf(publicKey);
  } catch {
    return undefined;
  }
}

async function addressOf(uncompressed: Uint8Array): Promise<string> {
  const { keccak256 } = await viemUtils();
  return `0x${keccak256(uncompressed.subarray(1)).slice(-40)}`;
}
