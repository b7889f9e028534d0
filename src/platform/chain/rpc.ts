import type { z } from 'zod';
import { unreachable } from '../../kernel/assert.ts';
import type { Fetch } from '../egress/fetch.ts';
import { createJsonRpc, type RpcReply } from './json-rpc.ts';
import { CHAIN_LIMITS } from './limits.ts';
import {
  byPlace,
  hexNumber,
  isAskedFor,
  isSameLog,
  knownBlockFilter,
  type LogQuery,
  logFilter,
  witnessFilter,
} from './log-query.ts';
import {
  BaseFeeAnswer,
  type Block,
  BlockAnswer,
  Bytes,
  type ChainLog,
  Count,
  LogAnswers,
  Quantity,
  type Receipt,
  ReceiptAnswer,
  Word,
} from './rpc-answers.ts';

/** Thrown when a node could not be reached or did not understand. Nothing is known about the question. */
export class RpcUnavailable extends Error {
  override readonly name: string = 'RpcUnavailable';
}

/** Thrown when the answer is larger than the node or this server allows. A smaller query may pass. */
export class RpcTooMuch extends RpcUnavailable {
  override readonly name = 'RpcTooMuch';
}

/** Thrown when the node ran the call and the contract reverted. */
export class RpcReverted extends Error {
  override readonly name = 'RpcReverted';
}

export type EthCall = {
  readonly to?: string;
  readonly from?: string;
  readonly data: `0x${string}`;
};

/** Fees that a chain transaction offers for each unit of gas. */
export type Fees = { readonly maxFeeWei: bigint; readonly priorityFeeWei: bigint };

/** Access to the chain. Every method rejects with RpcUnavailable or RpcReverted only. */
export interface Rpc {
  /**
   * Runs `eth_call` on the latest block, or on the block with the hash in `at` while that block is canonical. Without `to`,
   * `data` is creation code that returns the answer.
   */
  call(call: EthCall, at?: Pick<Block, 'hash'>): Promise<string>;
  /** Returns the latest block. */
  head(): Promise<Block>;
  /** Returns the canonical block of this number. Undefined when the chain is not that long yet. */
  block(number: number): Promise<Block | undefined>;
  /**
   * Returns the logs of canonical blocks in their order, each checked against the query. Rejects with RpcTooMuch when the range
   * holds more logs than one answer may.
   */
  logs(query: LogQuery): Promise<readonly ChainLog[]>;
  /** Sends a signed transaction to the chain and returns its hash. */
  send(rawTransaction: string): Promise<string>;
  /** Returns the receipt of a transaction. Undefined while the transaction is in no canonical block. */
  receipt(txHash: string): Promise<Receipt | undefined>;
  /** Returns the number of transactions that an address has sent, including those that wait to be mined. */
  transactionCount(address: string): Promise<number>;
  /** Returns fees that are enough for the next blocks, even if each block is full. */
  fees(): Promise<Fees>;
  estimateGas(call: EthCall): Promise<bigint>;
  chainId(): Promise<number>;
}

/** Chain access that calls contracts only. */
export type CallRpc = Pick<Rpc, 'call'>;

/** Error texts of nodes when the code failed and not the node: reverts and every fault of the EVM. */
const EXECUTION_FAILED =
  /revert|out of ?gas|outofgas|invalid opcode|opcodenotfound|invalid ?jump|stack ?(under|over)flow|evm error/i;
const EXECUTION_REVERTED_CODE = 3;
/** Error texts of nodes about ranges and answers beyond their bounds; each node has its own. */
const TOO_MUCH =
  /block range|range (is )?too|limited to|response (size|too large)|too many (results|logs|blocks)|more than [\d,]+ (results|logs)|max (results|range)|query timeout/i;
/** Error texts that match `TOO_MUCH` but mean a block that the node lacks, or the rate of the requests. */
const OTHERWISE = /head block|invalid|rate/i;

/** Speaks with one node, with bounds of time, answer size and calls under way. */
export function createRpc(node: { readonly url: string; readonly fetch: Fetch }): Rpc {
  const json = createJsonRpc(node);
  const ask = async <T>(answer: z.ZodType<T>, method: string, ...params: readonly unknown[]) =>
    take(answer, await json.ask({ method, params }));

  return {
    call: (call, at) =>
      ask(
        Bytes,
        'eth_call',
        call,
        at === undefined ? 'latest' : { blockHash: at.hash, requireCanonical: true },
      ),
    head: () => ask(BlockAnswer, BLOCK, 'latest', false),
    block: async (number) =>
      (await ask(BlockAnswer.nullable(), BLOCK, hexNumber(number), false)) ?? undefined,
    async logs(query) {
      const known = hexNumber(query.knowing?.number ?? query.toBlock);
      const filters = [knownBlockFilter(query), witnessFilter(query)];
      const questions = [
        { method: LOGS, params: [logFilter(query)] },
        { method: BLOCK, params: [known, false] },
        // Blocks and logs may come from two machines, one of which lags.
        ...filters.flatMap((filter) =>
          filter === undefined ? [] : [{ method: LOGS, params: [filter] }],
        ),
      ];
      const replies = await json.askTogether(
        questions,
        query.maxBytes ?? CHAIN_LIMITS.rpc.logResponseBytes,
      );
      return checkedLogs(query, replies);
    },
    send: (rawTransaction) => ask(Word, 'eth_sendRawTransaction', rawTransaction),
    receipt: async (txHash) =>
      (await ask(ReceiptAnswer.nullable(), 'eth_getTransactionReceipt', txHash)) ?? undefined,
    transactionCount: (address) => ask(Count, 'eth_getTransactionCount', address, 'pending'),
    async fees() {
      const [{ baseFeePerGas }, priorityFeeWei] = await Promise.all([
        ask(BaseFeeAnswer, BLOCK, 'latest', false),
        ask(Quantity, 'eth_maxPriorityFeePerGas'),
      ]);
      return { maxFeeWei: 2n * baseFeePerGas + priorityFeeWei, priorityFeeWei };
    },
    estimateGas: (call) => ask(Quantity, 'eth_estimateGas', call),
    chainId: () => ask(Count, 'eth_chainId'),
  };
}

const BLOCK = 'eth_getBlockByNumber';
const LOGS = 'eth_getLogs';

/** Returns the result of a reply in the shape that the request expects, or throws RpcUnavailable, RpcReverted or RpcTooMuch. */
function take<T>(answer: z.ZodType<T>, reply: RpcReply): T {
  switch (reply.kind) {
    case 'lost':
      throw new RpcUnavailable(reply.why, { cause: reply.cause });
    case 'too_large':
      throw new RpcTooMuch('the answer is larger than its bound');
    case 'error': {
      const { code, message } = reply;
      const text = message.slice(0, CHAIN_LIMITS.rpc.errorChars);
      const failed = code === EXECUTION_REVERTED_CODE || EXECUTION_FAILED.test(message);
      throw failed ? new RpcReverted(text) : new RpcUnavailable(`${code}: ${text}`);
    }
    case 'result': {
      const parsed = answer.safeParse(reply.result);
      if (!parsed.success) throw new RpcUnavailable('the node answered in an unknown shape');
      return parsed.data;
    }
    default:
      return unreachable(reply);
  }
}

function checkedLogs(query: LogQuery, replies: readonly RpcReply[]): readonly ChainLog[] {
  const [logs, known, ...proofs] = replies as readonly [RpcReply, RpcReply, ...RpcReply[]];
  if (known.kind === 'result') {
    const block = take(BlockAnswer.nullable(), known);
    const hash = query.knowing?.hash ?? block?.hash;
    if (block === null || block.hash !== hash) {
      throw new RpcUnavailable('the node does not know the block that its logs must reach');
    }
  }
  if (logs.kind === 'error' && TOO_MUCH.test(logs.message) && !OTHERWISE.test(logs.message)) {
    throw new RpcTooMuch(logs.message.slice(0, CHAIN_LIMITS.rpc.errorChars));
  }
  const found = take(LogAnswers, logs);
  // Without a readable proof the logs may be incomplete.
  take(BlockAnswer, known);
  const proven = proofs.map((proof) => take(LogAnswers, proof));
  const { witness } = query;
  if (witness !== undefined && !proven.at(-1)?.some((log) => isSameLog(log, witness))) {
    throw new RpcUnavailable('the logs of the node end before its blocks');
  }
  if (!found.every((log) => isAskedFor(query, log))) {
    throw new RpcUnavailable('the node answered logs that were not asked for');
  }
  return [...found].sort(byPlace);
}
