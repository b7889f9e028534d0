import type { Clock } from '../../kernel/clock.ts';
import type { Log } from '../../kernel/log.ts';
import { CHAIN_LIMITS } from './limits.ts';
import type { CallRpc } from './rpc.ts';

/** USDC balances of wallets on chain. */
export interface UsdcBalances {
  /** Returns a balance that is at most seconds old. Null when it cannot be read. */
  read(wallet: string): Promise<bigint | null>;
  /**
   * Returns a balance as `read` does, but while the node is away the last known balance, however old. Null when no balance is
   * known.
   */
  lastKnown(wallet: string): Promise<bigint | null>;
}

type Reading = { readonly balanceRaw: bigint; readonly atMs: number };

const BALANCE_OF = '0x70a08231';

/** Reads USDC balances through a small cache. The least recently read wallet is forgotten beyond its bound. */
export function createUsdcBalances(deps: {
  readonly rpc: CallRpc | undefined;
  readonly usdc: string;
  readonly clock: Clock;
  readonly log: Log;
}): UsdcBalances {
  const known = new Map<string, Reading>();

  const read = async (wallet: string): Promise<bigint | null> => {
    const { rpc, clock } = deps;
    if (rpc === undefined) return null;
    const address = wallet.toLowerCase();
    const last = known.get(address);
    if (last !== undefined && clock.monotonicMs() - last.atMs < CHAIN_LIMITS.balances.freshMs) {
      return last.balanceRaw;
    }
    try {
      const balanceRaw = await readBalance(rpc, deps.usdc, address);
      known.delete(address);
      known.set(address, { balanceRaw, atMs: clock.monotonicMs() });
      const oldest = known.keys().next().value;
      if (known.size > CHAIN_LIMITS.balances.kept && oldest !== undefined) known.delete(oldest);
      return balanceRaw;
    } catch (error) {
      deps.log.warn({ err: error }, 'the chain cannot be reached to read a wallet balance');
      return null;
    }
  };

  return {
    read,
    lastKnown: async (wallet) =>
      (await read(wallet)) ?? known.get(wallet.toLowerCase())?.balanceRaw ?? null,
  };
}

async function readBalance(rpc: CallRpc, usdc: string, address: string): Promise<bigint> {
  const data = `${BALANCE_OF}${address.slice(2).padStart(64, '0')}` as const;
  const answer = await rpc.call({ to: usdc, data });
  if (!/^0x[0-9a-fA-F]{64}$/.test(answer)) throw new Error('balanceOf did not answer a number');
  return BigInt(answer);
}
