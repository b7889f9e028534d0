import type { Clock } from '../../kernel/clock.ts';
import { nowSeconds } from '../../kernel/clock.ts';
import { BRAND } from '../../kernel/ids.ts';
import type { Log } from '../../kernel/log.ts';
import { hashSignedText, recoverSigner } from './account.ts';
import { signatureErrors } from './errors.ts';
import { CHAIN_LIMITS } from './limits.ts';
import { isReservedAddress } from './reserved-address.ts';
import { type CallRpc, RpcReverted } from './rpc.ts';

export type WalletProof = {
  readonly wallet: string;
  readonly signature: string;
  readonly timestamp: string;
};

/** Returns the exact two lines that a wallet signs. */
const signedText = (timestamp: string): string => `${BRAND.signedText}\nTimestamp: ${timestamp}`;

export type WalletSignatures = ReturnType<typeof createWalletSignatures>;

/**
 * Checks wallet signatures: of a plain wallet here, without the chain; of a contract wallet, deployed (ERC-1271) or not yet
 * (ERC-6492), by one call to the node. An unreachable node is never mistaken for a wrong signature.
 */
export function createWalletSignatures(deps: {
  readonly clock: Clock;
  /** Access to the chain. Undefined when there is no chain: contract wallets cannot be checked then. */
  readonly rpc: CallRpc | undefined;
  readonly log: Log;
}) {
  return {
    /** Returns the wallet in lower case. Throws the refusal of a proof that is not valid. */
    async check(proof: WalletProof): Promise<string> {
      requireFresh(proof.timestamp, nowSeconds(deps.clock));
      const { wallet, signature } = requireShape(proof);
      const hash = await hashSignedText(signedText(proof.timestamp));
      if ((await recoverSigner(hash, signature)) === wallet) return wallet;
      await askContract(deps, wallet, hash, signature);
      return wallet;
    },
  };
}

function requireFresh(timestamp: string, nowSec: number): void {
  const signedAt = /^\d{1,12}$/.test(timestamp) ? Number(timestamp) : Number.NaN;
  // Written so that a value which is no number fails, too.
  if (!(Math.abs(nowSec - signedAt) <= CHAIN_LIMITS.signature.windowSeconds)) {
    throw signatureErrors.timestampOutOfWindow();
  }
}

function requireShape(proof: WalletProof): { wallet: string; signature: Uint8Array } {
  const hex = proof.signature;
  const readable =
    /^0x[0-9a-fA-F]{40}$/.test(proof.wallet) &&
    hex.length <= CHAIN_LIMITS.signature.hexChars &&
    hex.length % 2 === 0 &&
    /^0x[0-9a-fA-F]{2,}$/.test(hex);
  // The validator compares with the result of `ecrecover`, which is the zero address for a signature of no key.
  if (!readable || isReservedAddress(proof.wallet)) throw signatureErrors.invalid();
  return { wallet: proof.wallet.toLowerCase(), signature: Buffer.from(hex.slice(2), 'hex') };
}

async function askContract(
  deps: { readonly rpc: CallRpc | undefined; readonly log: Log },
  wallet: string,
  hash: Uint8Array,
  signature: Uint8Array,
): Promise<void> {
  if (deps.rpc === undefined) {
    // Plain signatures have 65 bytes; when no contract can be called, such a signature is simply another wallet's.
    throw signature.length === 65 ? signatureErrors.invalid() : signatureErrors.needsChain();
  }
  if (!(await contractAccepts(deps.rpc, deps.log, wallet, hash, signature))) {
    throw signatureErrors.invalid();
  }
}

async function contractAccepts(
  rpc: CallRpc,
  log: Log,
  wallet: string,
  hash: Uint8Array,
  signature: Uint8Array,
): Promise<boolean> {
  const data = await validatorCall(wallet, hash, signature);
  try {
    return /^0x0*1$/.test(await rpc.call({ data }));
  } catch (error) {
    if (error instanceof RpcReverted) return false;
    log.warn({ err: error }, 'the chain cannot be reached to check a contract wallet');
    throw signatureErrors.uncheckable();
  }
}

/** Returns the call of the universal validator by its creation code, which needs no contract on the chain and leaves none. */
async function validatorCall(wallet: string, hash: Uint8Array, signature: Uint8Array) {
  const viem = await import('viem');
  return viem.encodeDeployData({
    abi: viem.erc6492SignatureValidatorAbi,
    bytecode: viem.erc6492SignatureValidatorByteCode,
    args: [wallet as `0x${string}`, viem.bytesToHex(hash), viem.bytesToHex(signature)],
  });
}
