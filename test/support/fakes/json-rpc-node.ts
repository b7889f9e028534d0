import type { Fetch, FetchRequest } from '../../../src/platform/egress/fetch.ts';

type Asked = { readonly method: string; readonly params: readonly unknown[] };

/** What a node answers to each method; an Error reads as the node's own error object. */
export type NodeScript = Readonly<Record<string, (...params: readonly never[]) => unknown>>;

/** A node's own word that it will not answer. */
export class NodeRefusal extends Error {
  readonly code: number;

  constructor(message: string, code = -32_000) {
    super(message);
    this.code = code;
  }
}

/** A JSON-RPC node behind the outbound door, which answers by script, one by one and in batches. */
export function fakeNode(script: NodeScript) {
  const asked: Asked[] = [];
  const requests: FetchRequest[] = [];
  const answer = ({ id, method, params }: Asked & { readonly id: number }) => {
    asked.push({ method, params });
    try {
      const act = script[method];
      if (act === undefined) throw new NodeRefusal(`the method ${method} does not exist`, -32_601);
      return { jsonrpc: '2.0', id, result: act(...(params as never[])) };
    } catch (error) {
      if (!(error instanceof NodeRefusal)) throw error;
      return { jsonrpc: '2.0', id, error: { code: error.code, message: error.message } };
    }
  };
  const fetch: Fetch = async (request) => {
    requests.push(request);
    const message = JSON.parse(String(request.body));
    // Nodes may answer a batch in any order.
    const reply = Array.isArray(message) ? message.map(answer).reverse() : answer(message);
    return { status: 200, headers: {}, body: Buffer.from(JSON.stringify(reply)) };
  };
  return { node: { url: 'http://node.example/secret', fetch }, asked, requests };
}

export const hex = (value: number | bigint) => `0x${value.toString(16)}`;
export const word = (value: number | bigint) => `0x${value.toString(16).padStart(64, '0')}`;
/** A block as nodes tell it. */
export const blockAnswer = (number: number, timestampSec = 1_700_000_000 + 2 * number) => ({
  number: hex(number),
  hash: word(BigInt(number) + 2n ** 200n),
  timestamp: hex(timestampSec),
  baseFeePerGas: hex(1_000),
});
