import { requestErrors } from '../../http/route/errors.ts';
import { BlockedDestination, Unreachable } from '../../platform/egress/blocked-destination.ts';
import type { CheckedDestination } from '../../platform/egress/destination-guard.ts';
import type { GuardedAnswer } from '../../platform/egress/exchange.ts';
import type { Asker } from '../../platform/egress/fair-shares.ts';
import type { GuardedClient } from '../../platform/egress/guarded-client.ts';
import { EGRESS_LIMITS } from '../../platform/egress/limits.ts';
import type { Header } from '../../platform/egress/request-headers.ts';
import {
  BadRequestHeader,
  SendFailed,
  type SendFailure,
} from '../../platform/egress/send-failed.ts';
import { proxyErrors } from '../errors.ts';
import { PAYMENT_LIMITS } from '../limits.ts';
import type { OutboundRequest } from './outbound-request.ts';
import { VendorCallFailed } from './vendor-failed.ts';

/** Time limits of a vendor's answer, and the limit of its bytes. */
export type VendorTimes = {
  /** Milliseconds from the connection to the last byte: of the request without a payment, and of the request with one. */
  readonly unpaidMs: number;
  readonly paidMs: number;
  /** Milliseconds between two pieces of a vendor's answer. */
  readonly idleMs: number;
  /** Milliseconds from the connection to the head of an answer, when they are fewer than `unpaidMs` and `paidMs`. */
  readonly firstByteMs?: number | undefined;
  readonly responseBytes?: number | undefined;
};

export const VENDOR_TIMES: VendorTimes = {
  unpaidMs: PAYMENT_LIMITS.proxy.unpaidMs,
  paidMs: PAYMENT_LIMITS.proxy.paidMs,
  idleMs: PAYMENT_LIMITS.proxy.idleMs,
};

/** Checks a URL that a caller chose and resolves its name, for all stages of a call. Throws the refusal. */
export async function openVendor(
  client: Pick<GuardedClient, 'open'>,
  url: string,
  asker: Asker,
): Promise<CheckedDestination> {
  const destination = await openTarget(client, url, asker);
  if (destination !== undefined) return destination;
  throw new VendorCallFailed('unresolved', proxyErrors.unreachable(UNRESOLVED));
}

/**
 * Checks a URL that a caller chose and resolves its name. Undefined when the name does not resolve. Throws the refusal of a
 * blocked destination.
 */
export async function openTarget(
  client: Pick<GuardedClient, 'open'>,
  url: string,
  asker: Asker,
): Promise<CheckedDestination | undefined> {
  try {
    return await client.open(url, asker);
  } catch (error) {
    if (error instanceof BlockedDestination) throw proxyErrors.blockedDestination(error.reason);
    if (error instanceof Unreachable) return undefined;
    throw error;
  }
}

export const UNRESOLVED = 'The host name could not be resolved.';

/** Sends a request without a payment. Throws the refusal when the vendor does not answer. */
export async function askVendor(
  client: Pick<GuardedClient, 'send'>,
  destination: CheckedDestination,
  request: OutboundRequest,
  times: Omit<VendorTimes, 'paidMs'>,
  signal: AbortSignal,
): Promise<GuardedAnswer> {
  try {
    const { unpaidMs: totalMs, ...more } = times;
    return await sendVendor(client, destination, request, { totalMs, ...more }, signal);
  } catch (error) {
    if (error instanceof BadRequestHeader) throw requestErrors.invalid([badHeader(error)]);
    if (!(error instanceof SendFailed)) throw error;
    if (signal.aborted) throw requestErrors.clientClosed();
    const { reason } = error;
    throw new VendorCallFailed(reason, proxyErrors.unreachable(NO_ANSWER[reason]));
  }
}

const NO_ANSWER: Readonly<Record<SendFailure, string>> = {
  busy: 'No connection to the vendor was free; try again shortly.',
  unreachable: 'The vendor took no connection.',
  tls: 'The vendor could not prove to be the host that it was called by.',
  timeout: 'The vendor did not answer in time.',
  aborted: 'The request was given up before an answer came.',
  broken: 'The vendor closed the connection before it had answered, or answered what is not HTTP.',
};

const badHeader = (error: Error) => ({
  path: ['headers'],
  message: error.message,
  code: 'invalid_header',
});

type VendorBounds = Omit<VendorTimes, 'unpaidMs' | 'paidMs'> & { readonly totalMs: number };

/** Sends one request once, within the proxy's limits of time and size. Rejects with the client's errors. */
export const sendVendor = (
  client: Pick<GuardedClient, 'send'>,
  destination: CheckedDestination,
  { method, headers, body }: OutboundRequest & { readonly headers: readonly Header[] },
  { totalMs, idleMs, firstByteMs = totalMs, responseBytes }: VendorBounds,
  signal: AbortSignal,
): Promise<GuardedAnswer> =>
  client.send(destination, {
    method,
    headers,
    body,
    signal,
    timeouts: {
      connectMs: PAYMENT_LIMITS.proxy.connectMs,
      firstByteMs,
      idleMs,
      totalMs,
    },
    maxHeaderBytes: EGRESS_LIMITS.response.headerBytes,
    maxResponseBytes: responseBytes ?? PAYMENT_LIMITS.proxy.answerBytes,
  });
