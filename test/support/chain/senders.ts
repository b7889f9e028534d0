import { setTimeout as sleep } from 'node:timers/promises';
import type { Address, Hex, RpcTransactionReceipt } from 'viem';
import type { JsonRpc } from './json-rpc.ts';

export type TxRequest = {
  readonly from: Address;
  readonly to: Address;
  readonly data: Hex;
  readonly gas?: Hex;
};

export type Senders = {
  /** Hands a transaction over and waits for no block. The node picks the sender's next nonce. */
  post(request: TxRequest): Promise<Hex>;
  /** Sends from an account of the node, and waits for its block unless blocks are held back. */
  send(request: TxRequest): Promise<Hex>;
  /** Waits until the transaction stands in a block. */
  mined(hash: Hex): Promise<RpcTransactionReceipt>;
  receipt(hash: Hex): Promise<RpcTransactionReceipt | undefined>;
};

const PATIENCE_MS = 20_000;
const LOOK_EVERY_MS = 5;

/** The node gives two transactions of one sender the same nonce when they come at once: one waits here. */
export function createSenders(node: JsonRpc, blocksAreMade: () => boolean): Senders {
  const last = new Map<Address, Promise<unknown>>();
  const post = (request: TxRequest) => {
    const turn = last.get(request.from) ?? Promise.resolve();
    const sent = turn.then(() => node.ask<Hex>('eth_sendTransaction', request));
    last.set(
      request.from,
      sent.catch(() => undefined),
    );
    return sent;
  };
  const receipt = async (hash: Hex) =>
    (await node.ask<RpcTransactionReceipt | null>('eth_getTransactionReceipt', hash)) ?? undefined;
  const mined = async (hash: Hex) => {
    const until = performance.now() + PATIENCE_MS;
    while (performance.now() < until) {
      const found = await receipt(hash);
      if (found !== undefined) return found;
      await sleep(LOOK_EVERY_MS);
    }
    throw new Error(`${hash} was not mined in time`);
  };
  return {
    post,
    async send(request) {
      const hash = await post(request);
      if (blocksAreMade()) await mined(hash);
      return hash;
    },
    mined,
    receipt,
  };
}
