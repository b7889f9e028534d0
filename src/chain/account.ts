import { pointFromScalar, recover } from 'tiny-secp256k1';

/** viem takes some 100 ms to load, so it is loaded at the first use or by `loadChainCode`. */
const viemUtils = () => import('viem/utils');

/** Loads what signatures and addresses need, so that the first request does not wait for it. */
export async function loadChainCode(): Promise<void> {
  await Promise.all([viemUtils(), import('viem')]);
}

/** The hash that `personal_sign` (EIP-191) signs. */
export async function hashSignedText(text: string): Promise<Uint8Array> {
  const { hashMessage } = await viemUtils();
  return hashMessage(text, 'bytes');
}

/** The address, in lower case, that made a 65-byte signature; nothing when it is not a signature at all. */
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

/** The address, in lower case, of a private key; nothing when the 32 bytes are not one. */
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
