import type { Clock } from '../../kernel/clock.ts';
import type { Log } from '../../kernel/log.ts';
import type { Authorization } from '../../x402/authorization.ts';
import { wordOf, wordOfHex } from './abi.ts';
import { CHAIN_LIMITS } from './limits.ts';
import { type Rpc, RpcUnavailable } from './rpc.ts';

/** Sends signed transfers to the chain and pays their gas. It cannot move USDC by itself. */
export interface Facilitator {
  /**
   * Returns the hash of the chain transaction, which may not be mined yet. Rejects with RpcReverted when
   * the token would refuse the transfer, and with RpcUnavailable when the node did not take the transaction
   * or may not have. To submit the same authorization again is safe.
   */
  submitTransfer(authorization: Authorization, signature: string): Promise<string>;
}

export type FacilitatorRpc = Pick<Rpc, 'estimateGas' | 'fees' | 'transactionCount' | 'send'>;

type Transaction = { readonly data: `0x${string}`; readonly gas: bigint };

/** Selector of `transferWithAuthorization` with the signature as bytes, so that contract wallets may sign as well. */
const TRANSFER_WITH_AUTHORIZATION = '0xcf092995';
const HEAD_WORDS = 7;
const WORD_BYTES = 32;

/** Opens the account at the first transaction: viem takes its time to load, and most processes never submit anything. */
const openAccount = async (privateKey: string) => {
  const { privateKeyToAccount } = await import('viem/accounts');
  return privateKeyToAccount(privateKey as `0x${string}`);
};

type Account = Awaited<ReturnType<typeof openAccount>>;

/**
 * Sends one transaction at a time, so that each has the next number of the account. After a failure the number is read from the
 * chain again: a refused broadcast leaves no gap that would delay later transactions.
 */
export function createFacilitator(deps: {
  readonly rpc: FacilitatorRpc;
  /** Key of an account that holds gas and nothing else. */
  readonly privateKey: string;
  readonly usdc: string;
  readonly chainId: number;
  readonly clock: Clock;
  readonly log: Log;
}): Facilitator {
  const { rpc, usdc, chainId, clock, log } = deps;
  let opened: ReturnType<typeof openAccount> | undefined;
  let last: { readonly number: number; readonly atMs: number } | undefined;
  /** Time since which the node counts fewer transactions than were sent. */
  let shortSinceMs: number | undefined;
  let turn: Promise<unknown> = Promise.resolve();
  let waiting = 0;

  /**
   * Returns the number of the next transaction. A node that does not know our last transaction yet must not hand out the number
   * again. A node that does not know the transaction for `CHAIN_LIMITS.facilitator.numberMs` has lost it, and later transactions would wait
   * for ever.
   */
  const nextNumber = (counted: number): number => {
    const nowMs = clock.monotonicMs();
    const isOld = (sinceMs: number) => nowMs - sinceMs >= CHAIN_LIMITS.facilitator.numberMs;
    if (last === undefined || isOld(last.atMs) || counted > last.number) {
      shortSinceMs = undefined;
      return counted;
    }
    shortSinceMs ??= nowMs;
    if (!isOld(shortSinceMs)) return last.number + 1;
    shortSinceMs = undefined;
    return counted;
  };

  const send = async (account: Account, { data, gas }: Transaction): Promise<string> => {
    const [counted, fees] = await Promise.all([rpc.transactionCount(account.address), rpc.fees()]);
    if (fees.maxFeeWei > CHAIN_LIMITS.facilitator.feeWei) {
      throw new RpcUnavailable('the chain asks for more gas money than this server pays');
    }
    const number = nextNumber(counted);
    const raw = await account.signTransaction({
      type: 'eip1559',
      chainId,
      to: usdc as `0x${string}`,
      data,
      gas,
      nonce: number,
      maxFeePerGas: fees.maxFeeWei,
      maxPriorityFeePerGas: fees.priorityFeeWei,
    });
    const txHash = await rpc.send(raw);
    last = { number, atMs: clock.monotonicMs() };
    return txHash;
  };

  const inTurn = (account: Account, transaction: Transaction): Promise<string> => {
    const sent = turn.then(() => send(account, transaction));
    turn = sent.catch(() => {
      last = undefined;
    });
    return sent;
  };

  return {
    async submitTransfer(authorization, signature) {
      if (waiting >= CHAIN_LIMITS.facilitator.waiting) {
        throw new RpcUnavailable('too many transfers wait for the facilitator');
      }
      waiting++;
      const { nonce } = authorization;
      try {
        opened ??= openAccount(deps.privateKey);
        const account = await opened;
        const from = account.address;
        const data = encodeTransfer(authorization, signature);
        // The estimate rejects a transfer that the token would refuse, before any gas is spent.
        const needed = await rpc.estimateGas({ from, to: usdc, data });
        if (needed > CHAIN_LIMITS.facilitator.gas) {
          throw new RpcUnavailable('a transfer needs more gas than any transfer does');
        }
        const txHash = await inTurn(account, { data, gas: (needed * 5n) / 4n });
        log.info({ nonce, txHash }, 'a transfer was handed to the chain');
        return txHash;
      } catch (err) {
        log.warn({ err, nonce }, 'a transfer could not be handed to the chain');
        throw err;
      } finally {
        waiting--;
      }
    },
  };
}

/** Returns the call data of a transfer: the authorization and its signature. */
function encodeTransfer(
  { from, to, valueRaw, validAfter, validBefore, nonce }: Authorization,
  signature: string,
): `0x${string}` {
  const bytes = signature.slice(2).toLowerCase();
  const words = [
    wordOfHex(from),
    wordOfHex(to),
    wordOf(valueRaw),
    wordOf(validAfter),
    wordOf(validBefore),
    wordOfHex(nonce),
    wordOf(HEAD_WORDS * WORD_BYTES),
    wordOf(bytes.length / 2),
    bytes.padEnd(Math.ceil(bytes.length / 64) * 64, '0'),
  ];
  return `${TRANSFER_WITH_AUTHORIZATION}${words.join('')}`;
}
