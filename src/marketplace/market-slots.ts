import type { OnOver } from '../payments/proxy/marketplace.ts';
import { type BytesShare, createBytesInFlight } from './bytes-in-flight.ts';
import { MARKETPLACE_LIMITS } from './limits.ts';
import { createNamedSlots, type WithSlot } from './named-slots.ts';

/** Limits that all calls of a process share: calls at a time, and memory. */
export type MarketSlots = {
  readonly withFile: WithSlot;
  readonly withSale: WithSlot;
  /** Returns the memory of this process that a call of an account may take. */
  readonly shareOf: (accountId: string) => BytesShare;
};

export function createMarketSlots(): MarketSlots {
  const { bytesInFlight } = MARKETPLACE_LIMITS.sale;
  const { filesInFlight, filesPerAccount, filesPerAgent } = MARKETPLACE_LIMITS.audio;
  const {
    perAccount: salesPerAccount,
    perAgent: salesPerAgent,
    perVendor: salesPerVendor,
  } = MARKETPLACE_LIMITS.sale;
  return {
    shareOf: createBytesInFlight(bytesInFlight),
    withSale: createNamedSlots({
      perAgent: salesPerAgent,
      perAccount: salesPerAccount,
      inAll: salesPerVendor,
    }),
    withFile: createNamedSlots({
      perAgent: filesPerAgent,
      perAccount: filesPerAccount,
      inAll: filesInFlight,
    }),
  };
}

/** Memory and signals of a call while it is served. */
export type CallResources = {
  /** Part of this process's memory that the call may take. */
  readonly share: BytesShare;
  /** Stops the work when the client leaves. Never fires when the answer is kept under an Idempotency-Key. */
  readonly signal: AbortSignal;
  /** Fires when the client leaves, even when the work goes on. */
  readonly client: AbortSignal;
};

/** Runs a call with its share of memory. The bytes of its answer are given back when the answer was sent. */
export async function withShare<T extends { readonly body: Uint8Array }>(
  share: BytesShare,
  call: {
    readonly onOver?: OnOver | undefined;
    readonly signal: AbortSignal;
    readonly workId: string | undefined;
  },
  run: (served: CallResources) => Promise<T>,
): Promise<T> {
  const { onOver, signal: client, workId } = call;
  // An answer under an Idempotency-Key is kept for a retry, so a client that leaves does not stop the work.
  const signal = workId === undefined ? client : new AbortController().signal;
  let sentBytes = 0;
  try {
    const answer = await run({ client, share, signal });
    if (onOver !== undefined) sentBytes = answer.body.byteLength;
    return answer;
  } finally {
    share.shrinkTo(sentBytes);
    if (sentBytes > 0) onOver?.(() => share.shrinkTo(0));
  }
}
