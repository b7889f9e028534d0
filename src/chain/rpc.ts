import { z } from 'zod';
import type { Fetch } from '../egress/fetch.ts';
import { LIMITS } from '../kernel/limits.ts';

/** The node could not be asked, or did not understand. Nothing is known about the question. */
export class RpcUnavailable extends Error {
  override readonly name = 'RpcUnavailable';
}

/** The node ran the call and the contract refused it. */
export class RpcReverted extends Error {
  override readonly name = 'RpcReverted';
}

export type Call = { readonly to?: string; readonly data: `0x${string}` };

/** The chain, as far as it can be asked. Every method rejects with RpcUnavailable or RpcReverted only. */
export interface Rpc {
  /** `eth_call` on the latest block; without `to`, `data` is creation code that returns its answer. */
  call(call: Call): Promise<string>;
}

const Answer = z.object({
  result: z.string().optional(),
  error: z.object({ code: z.number(), message: z.string().default('') }).optional(),
});

/** What nodes say when the code itself failed, as opposed to the node: reverts and every fault of the EVM. */
const EXECUTION_FAILED =
  /revert|out of ?gas|outofgas|invalid opcode|opcodenotfound|invalid ?jump|stack ?(under|over)flow|evm error/i;
const EXECUTION_REVERTED_CODE = 3;

type Node = { readonly url: string; readonly fetch: Fetch };

/** Speaks JSON-RPC with one node. Bounded in time, in answer size and in calls under way. */
export function createRpc(node: Node): Rpc {
  let underWay = 0;
  return {
    async call(call) {
      if (underWay >= LIMITS.rpcCallsUnderWay) throw new RpcUnavailable('too many calls under way');
      underWay++;
      try {
        return await ask(node, call);
      } finally {
        underWay--;
      }
    },
  };
}

async function ask(node: Node, call: Call): Promise<string> {
  const question = { jsonrpc: '2.0', id: 1, method: 'eth_call', params: [call, 'latest'] };
  const answer = Answer.safeParse(await post(node, question));
  if (!answer.success) throw new RpcUnavailable('the node did not answer in JSON-RPC');
  const { error, result } = answer.data;
  if (error !== undefined) {
    const text = error.message.slice(0, 200);
    const failed = error.code === EXECUTION_REVERTED_CODE || EXECUTION_FAILED.test(error.message);
    throw failed ? new RpcReverted(text) : new RpcUnavailable(`${error.code}: ${text}`);
  }
  if (result === undefined) throw new RpcUnavailable('the node answered without a result');
  return result;
}

async function post(node: Node, question: object): Promise<unknown> {
  try {
    const answer = await node.fetch({
      url: node.url,
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(question),
      timeoutMs: LIMITS.rpcTimeoutMs,
      maxResponseBytes: LIMITS.rpcAnswerBytes,
    });
    return JSON.parse(Buffer.from(answer.body).toString('utf8'));
  } catch (cause) {
    throw new RpcUnavailable('the node could not be reached', { cause });
  }
}
