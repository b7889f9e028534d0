import { type Hex, numberToHex } from 'viem';
import type { JsonRpc } from './json-rpc.ts';

export type Question = {
  readonly id: unknown;
  readonly method: string;
  readonly params?: unknown[];
};
export type Reply = {
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
};

const TAGS = new Set(['latest', 'pending', 'safe', 'finalized']);
const UNKNOWN_BLOCK: Reply = { error: { code: -32_001, message: 'Resource not found' } };

type InBlock = { readonly blockNumber?: Hex | null; readonly number?: Hex };

/** What a node would answer that has seen no block after `head`. */
export async function answerAsOf(head: number, question: Question, node: JsonRpc): Promise<Reply> {
  const { method, params = [] } = question;
  if (method === 'eth_blockNumber') return { result: numberToHex(head) };
  if (await asksBeyond(head, params, node)) return UNKNOWN_BLOCK;
  const result = await node.ask(method, ...params.map((param) => upTo(head, method, param)));
  if (Array.isArray(result)) return { result: result.filter((each) => !isAfter(head, each)) };
  return { result: isAfter(head, result) ? null : result };
}

/** `latest` means the lagging head, as it does in a filter that names no end. */
function upTo(head: number, method: string, param: unknown): unknown {
  if (typeof param === 'string') return TAGS.has(param) ? numberToHex(head) : param;
  if (method !== 'eth_getLogs' || typeof param !== 'object' || param === null) return param;
  const filter: Record<string, unknown> = { ...param };
  if ('blockHash' in filter) return filter;
  for (const end of ['fromBlock', 'toBlock']) {
    const tag = filter[end];
    if (tag === undefined || TAGS.has(String(tag))) filter[end] = numberToHex(head);
  }
  return filter;
}

async function asksBeyond(head: number, params: readonly unknown[], node: JsonRpc) {
  const hash = params
    .map((param) => (param as { blockHash?: Hex } | null)?.blockHash)
    .find((found) => found !== undefined);
  if (hash === undefined) return false;
  return isAfter(head, await node.ask('eth_getBlockByHash', hash, false));
}

function isAfter(head: number, thing: unknown): boolean {
  if (typeof thing !== 'object' || thing === null) return false;
  const { blockNumber, number } = thing as InBlock;
  const at = blockNumber ?? number;
  return at !== undefined && Number(at) > head;
}
