import { bloomBitsOf, mayHoldLogs } from './bloom.ts';
import { CHAIN_LIMITS } from './limits.ts';
import type { BlockRange } from './log-range.ts';
import { type Rpc, RpcTooMuch, RpcUnavailable } from './rpc.ts';
import type { Block, ChainLog } from './rpc-answers.ts';

/** Log that a node has returned before, and must return again when it claims to return all logs of a range. */
export type LogWitness = ChainLog;

/**
 * Finds the newest log of a contract near the end of a range; an answer for the range without this log is incomplete. The bloom
 * filters of the headers show the block with such a log. Rejects a node that returns no log for that block, since it has
 * indexed fewer logs than blocks. Undefined when the filters of the last blocks show no log.
 */
export async function findWitness(
  rpc: Pick<Rpc, 'block' | 'logs'>,
  address: string,
  { fromBlock, to }: BlockRange<Block>,
): Promise<LogWitness | undefined> {
  const bits = await bloomBitsOf(address);
  const first = Math.max(fromBlock, to.number - CHAIN_LIMITS.logs.witnessBlocks + 1);
  for (let number = to.number; number >= first; number--) {
    const block = number === to.number ? to : await rpc.block(number);
    if (block === undefined) {
      throw new RpcUnavailable('the node lacks a block before one that it has');
    }
    // Without a bloom filter there is nothing to check the node against.
    if (block.logsBloom === undefined) return undefined;
    if (mayHoldLogs(block.logsBloom, bits)) return newestLog(rpc, address, block);
  }
  return undefined;
}

async function newestLog(
  rpc: Pick<Rpc, 'logs'>,
  address: string,
  block: Block,
): Promise<LogWitness | undefined> {
  const { number } = block;
  const range = { fromBlock: number, toBlock: number, knowing: block };
  let found: readonly ChainLog[];
  try {
    found = await rpc.logs({ address, topics: [], ...range });
  } catch (error) {
    // The node has logs of this block, but more than one answer can hold.
    if (error instanceof RpcTooMuch) return undefined;
    throw error;
  }
  const newest = found.at(-1);
  if (newest !== undefined) return newest;
  throw new RpcUnavailable('the node returns no log of a block whose header says that it has some');
}
