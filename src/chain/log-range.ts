import { LIMITS } from '../kernel/limits.ts';
import type { LogQuery } from './log-query.ts';
import { type Rpc, RpcTooMuch, RpcUnavailable } from './rpc.ts';
import type { Block, ChainLog } from './rpc-answers.ts';

/** A chain that is only asked what has happened. */
export type LogRpc = Pick<Rpc, 'logs'>;

/** Blocks from one up to another that is named by its hash too: the branch that is meant, and no other. */
export type BlockRange = {
  readonly fromBlock: number;
  readonly to: Pick<Block, 'number' | 'hash'>;
};

/** How many questions one read may still ask. */
export type Allowance = { left: number };

export const readAllowance = (): Allowance => ({ left: LIMITS.logQueriesPerRead });

/**
 * Reads a range whole, in halves where the node refuses its size, down to single blocks. Rejects when the
 * allowance is used up: whoever reads takes a smaller range then.
 */
export async function readRange(
  rpc: LogRpc,
  query: LogQuery,
  allowance: Allowance,
): Promise<readonly ChainLog[]> {
  if (query.fromBlock > query.toBlock) return [];
  if (allowance.left <= 0) {
    throw new RpcUnavailable('the node cuts the range into too many parts');
  }
  allowance.left--;
  try {
    return await rpc.logs(query);
  } catch (error) {
    if (!(error instanceof RpcTooMuch) || query.fromBlock === query.toBlock) throw error;
  }
  const middle = Math.floor((query.fromBlock + query.toBlock) / 2);
  const first = await readRange(rpc, { ...query, toBlock: middle }, allowance);
  const second = await readRange(rpc, { ...query, fromBlock: middle + 1 }, allowance);
  return [...first, ...second];
}
