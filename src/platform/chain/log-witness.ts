import { LIMITS } from '../../kernel/limits.ts';
import { bloomBitsOf, mayHoldLogs } from './bloom.ts';
import type { BlockRange } from './log-range.ts';
import { type Rpc, RpcTooMuch, RpcUnavailable } from './rpc.ts';
import type { Block, ChainLog } from './rpc-answers.ts';

/** A log that a node must return whenever it claims to return all logs of a range, since it returned it before. */
export type LogWitness = ChainLog;

/**
 * Finds the newest log of a contract near the end of a range, so that an answer which leaves the end out can be told
 * from one that has nothing to say. The headers say in which block there is one: a node that then tells none has logs
 * which end before its blocks, and is refused. Undefined where the headers say that the last blocks have none.
 */
export async function findWitness(
  rpc: Pick<Rpc, 'block' | 'logs'>,
  address: string,
  { fromBlock, to }: BlockRange<Block>,
): Promise<LogWitness | undefined> {
  const bits = await bloomBitsOf(address);
  const first = Math.max(fromBlock, to.number - LIMITS.witnessBlocks + 1);
  for (let number = to.number; number >= first; number--) {
    const block = number === to.number ? to : await rpc.block(number);
    if (block === undefined) {
      throw new RpcUnavailable('the node lacks a block before one that it has');
    }
    // A node that tells no filter cannot be held to it.
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
  let told: readonly ChainLog[];
  try {
    told = await rpc.logs({ address, topics: [], ...range });
  } catch (error) {
    // It has them, and more than can be read.
    if (error instanceof RpcTooMuch) return undefined;
    throw error;
  }
  const newest = told.at(-1);
  if (newest !== undefined) return newest;
  throw new RpcUnavailable('the node tells no log of a block whose header says that it has some');
}
