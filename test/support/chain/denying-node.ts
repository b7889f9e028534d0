import { type Hex, hexToNumber, numberToHex } from 'viem';
import type { JsonRpc } from './json-rpc.ts';
import type { Question, Reply } from './lagging-node.ts';

type Filter = { readonly fromBlock?: Hex; readonly toBlock?: Hex; readonly blockHash?: Hex };
type Told = { readonly number: Hex };

const EMPTY_BLOOM = `0x${'00'.repeat(256)}`;

/** What a node would answer whose logs end so many blocks before its head, and that does not say so. */
export async function answerCut(by: number, { method, params = [] }: Question, node: JsonRpc) {
  const result = await node.ask(method, ...params);
  if (method !== 'eth_getLogs') return { result };
  const head = hexToNumber(await node.ask<Hex>('eth_blockNumber'));
  return { result: until(result, head - by) };
}

/** What a node would answer that has the right blocks, and for which nothing has happened in them since one of them. */
export async function answerDenied(
  since: number,
  { method, params = [] }: Question,
  node: JsonRpc,
): Promise<Reply> {
  switch (method) {
    case 'eth_getLogs':
      return { result: until(await node.ask(method, ...params), since) };
    case 'eth_call':
      return { result: await node.ask(method, params[0], await stateAt(params[1], since, node)) };
    case 'eth_getBlockByNumber': {
      const block = await node.ask<Told | null>(method, ...params);
      const isDenied = block !== null && hexToNumber(block.number) > since;
      return { result: isDenied ? { ...block, logsBloom: EMPTY_BLOOM } : block };
    }
    default:
      return { result: await node.ask(method, ...params) };
  }
}

const until = (logs: unknown, last: number): unknown =>
  (logs as { blockNumber: Hex }[]).filter(({ blockNumber }) => hexToNumber(blockNumber) <= last);

async function stateAt(at: unknown, since: number, node: JsonRpc): Promise<unknown> {
  const { blockHash } = (at ?? {}) as Filter;
  const block =
    blockHash === undefined
      ? undefined
      : await node.ask<Told | null>('eth_getBlockByHash', blockHash, false);
  if (block === null) return at;
  return block !== undefined && hexToNumber(block.number) <= since ? at : numberToHex(since);
}
