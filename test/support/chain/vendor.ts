import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Address, createWalletClient, custom, publicActions } from 'viem';
import { base } from 'viem/chains';
import type { Chain } from './chain.ts';
import type { TxRequest } from './senders.ts';

/** A request that got as far as what is sold. */
export type Handled = {
  readonly method: string;
  readonly url: string;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly body: string;
};

/** A vendor made of published packages. Each answers on `/paid`, whatever the method. */
export type Vendor = AsyncDisposable & {
  /** Answers what it was asked, in JSON. `?status=503` and `?delayMs=500` change the answer. */
  readonly url: string;
  readonly payTo: Address;
  readonly priceRaw: bigint;
  /** Each run of the handler, in order; it runs before the settlement. */
  readonly handled: Handled[];
};

export type VendorOptions = {
  readonly priceRaw?: bigint;
  readonly payTo?: Address;
  readonly maxTimeoutSeconds?: number;
};

export const PRICE_RAW = 10_000n;

/** The facilitator's key, held by the node: its nonces are right even after a reorg or a revert. */
export function gasClient(chain: Chain, address: Address) {
  const request = ({ method, params }: { method: string; params?: unknown }) => {
    const list = (params ?? []) as readonly unknown[];
    return method === 'eth_sendTransaction'
      ? chain.post({ ...(list[0] as TxRequest), from: address })
      : chain.node.ask(method, ...list);
  };
  return createWalletClient({
    account: address,
    chain: base,
    transport: custom({ request }, { retryCount: 0 }),
    pollingInterval: 20,
  }).extend(publicActions);
}

/** What every vendor here sells: an echo, with the status and after the delay that the URL names. */
export async function sell(handled: Handled[], request: Handled): Promise<number> {
  handled.push(request);
  const { searchParams } = new URL(request.url, 'http://vendor.invalid');
  await sleep(Number(searchParams.get('delayMs') ?? 0));
  return Number(searchParams.get('status') ?? 200);
}

export function listening(server: Server): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () =>
      resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
    );
  });
}

export async function closed(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}
