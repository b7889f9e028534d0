import { CHAIN_LIMITS } from './limits.ts';
import type { LogQuery } from './log-query.ts';
import { type Rpc, RpcTooMuch, RpcUnavailable } from './rpc.ts';
import type { Block, ChainLog } from './rpc-answers.ts';

/** Chain access that reads logs only. */
export type LogRpc = Pick<Rpc, 'logs'>;

/** Blocks from `fromBlock` up to `to`, which is named by its hash too, so that another branch of the chain is not read. */
export type BlockRange<To extends Pick<Block, 'number' | 'hash'> = Pick<Block, 'number' | 'hash'>> =
  {
    readonly fromBlock: number;
    readonly to: To;
    /** Log that every answer must contain. Undefined when no such log is known. */
    readonly witness?: ChainLog | undefined;
    /** Bytes that are read of one answer while a smaller query is possible. */
    readonly maxBytes?: number | undefined;
    /** Called with the logs that no answer can hold, which are left out. When absent, such logs reject the reading. */
    readonly onFlood?: ((flood: Flood) => void) | undefined;
  };

/**
 * Wallet with more logs in one block than a node returns or this server reads. Any stranger can cause them for little money.
 */
export type Flood = { readonly wallet: string; readonly blockNumber: number };

/** Requests that one read may still make. */
export type LogAllowance = { left: number };

export const readAllowance = (): LogAllowance => ({ left: CHAIN_LIMITS.logs.queriesPerRead });

/**
 * Reads all logs of a range, in smaller queries when the node refuses the size: down to single blocks, and then to single
 * topics. Rejects when the allowance is used up; a smaller range may pass then. A smallest query that is still too large is
 * reported to `onFlood` and left out; without `onFlood` the reading rejects.
 */
export async function readRange(
  rpc: LogRpc,
  query: LogQuery,
  allowance: LogAllowance,
  onFlood?: (query: LogQuery) => void,
): Promise<readonly ChainLog[]> {
  if (query.fromBlock > query.toBlock) return [];
  if (allowance.left <= 0) {
    throw new RpcUnavailable('the node cuts the range into too many parts');
  }
  allowance.left--;
  let tooMuch: RpcTooMuch;
  try {
    return await rpc.logs(query);
  } catch (error) {
    if (!(error instanceof RpcTooMuch)) throw error;
    tooMuch = error;
  }
  const parts = partsOf(query);
  if (parts.length === 0) {
    if (onFlood === undefined) throw tooMuch;
    onFlood(query);
  }
  const found: ChainLog[] = [];
  for (const part of parts) found.push(...(await readRange(rpc, part, allowance, onFlood)));
  return found;
}

/** Returns smaller queries that together cover the query; none when the query is the smallest. */
function partsOf(query: LogQuery): readonly LogQuery[] {
  const { fromBlock, toBlock, topics, maxBytes } = query;
  if (fromBlock < toBlock) {
    const middle = Math.floor((fromBlock + toBlock) / 2);
    return [
      { ...query, toBlock: middle },
      { ...query, fromBlock: middle + 1 },
    ];
  }
  if (maxBytes !== undefined) return [{ ...query, maxBytes: undefined }];
  // The wallets follow the events in the topics; of these events strangers can cause transfers only.
  const at = topics.findLastIndex((wanted) => wanted !== null && wanted.length > 1);
  const wanted = topics[at] ?? [];
  const half = Math.ceil(wanted.length / 2);
  return wanted.length === 0
    ? []
    : [wanted.slice(0, half), wanted.slice(half)].map((some) => ({
        ...query,
        topics: topics.with(at, some),
      }));
}
