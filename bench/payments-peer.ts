/**
 * The other sides of the payments bench, each in a process of its own: a vendor that settles nothing and costs no
 * cryptography, and one caller. Speaks to its parent over IPC.
 */

import { Pool } from 'undici';
import { startEvilVendor } from '../test/support/chain/evil-vendor.ts';
import { callSideBySide, obeyOrders } from './peer-process.ts';

export type PeerRequest = {
  readonly url: string;
  readonly method: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Any other status is a failure. */
  readonly status: number;
};

export type PeerOrder =
  | { readonly kind: 'sell'; readonly priceRaw: number }
  /** The payment header that was handed over last, by its name. */
  | { readonly kind: 'payment' }
  /** The same requests one after another, so many times, by one caller or several at once. */
  | {
      readonly kind: 'call';
      readonly requests: readonly PeerRequest[];
      readonly times: number;
      readonly callers?: number;
    };

/** Where the vendor sells, and where it gives away. */
export type Stand = { readonly paidUrl: string; readonly freeUrl: string };
/** How long each round of requests took. */
export type Called = { readonly tookMs: readonly number[] };

const PAYMENT_HEADER = 'payment-signature';

const pools = new Map<string, Pool>();
let vendor: Awaited<ReturnType<typeof startEvilVendor>> | undefined;

function poolOf(origin: string): Pool {
  const pool = pools.get(origin) ?? new Pool(origin);
  pools.set(origin, pool);
  return pool;
}

async function send({ url, method, headers = {}, body, status }: PeerRequest): Promise<void> {
  const { origin, pathname } = new URL(url);
  const answer = await poolOf(origin).request({
    path: pathname,
    method,
    headers,
    body: body ?? null,
  });
  const text = await answer.body.text();
  if (answer.statusCode !== status) throw new Error(`${url}: ${answer.statusCode} ${text}`);
}

async function obey(order: PeerOrder): Promise<unknown> {
  switch (order.kind) {
    case 'sell': {
      vendor = await startEvilVendor();
      const paidUrl = vendor.sell({
        priceRaw: BigInt(order.priceRaw),
        paid: { settle: 'never', answer: { kind: 'answer' } },
      });
      return { paidUrl, freeUrl: `${vendor.origin}/free` };
    }
    case 'payment': {
      const paid = vendor?.seen().findLast(({ payment }) => payment !== undefined);
      return { [PAYMENT_HEADER]: paid?.headers[PAYMENT_HEADER] };
    }
    case 'call': {
      const { requests, times, callers = 1 } = order;
      const tookMs: number[] = [];
      await callSideBySide({ callers, requests: times }, async () => {
        const startedMs = performance.now();
        for (const request of requests) await send(request);
        tookMs.push(performance.now() - startedMs);
      });
      return { tookMs };
    }
  }
}

obeyOrders(obey);
