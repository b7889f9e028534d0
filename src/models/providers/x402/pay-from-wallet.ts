import { ApiError } from '../../../kernel/api-error.ts';
import { abortSignalOf, type StopSignal } from '../../../kernel/stop-signal.ts';
import type { HoldRefusal } from '../../../ledger/rules/requests.ts';
import { type PayDeps, payVendor } from '../../../payments/proxy/pay-vendor.ts';
import {
  type QuoteCallDeps,
  type QuotedCall,
  quoteCall,
  type VendorCall,
} from '../../../payments/proxy/quote-call.ts';
import {
  AsksTooMuch,
  type ReserveDeps,
  type Reserved,
  reservePayment,
} from '../../../payments/proxy/reserve-payment.ts';
import type { VendorTimes } from '../../../payments/proxy/vendor-call.ts';
import { VendorCallFailed } from '../../../payments/proxy/vendor-failed.ts';
import { detailOf } from '../../../payments/quotes/price-quotes.ts';
import type { RailFailure } from '../outcome.ts';
import type { PaidCalls, PaidOutcome, PaidRequest } from '../paid-calls.ts';

export type PaidCallDeps = Omit<QuoteCallDeps & ReserveDeps & PayDeps, 'times' | 'refusalOfHold'>;

/**
 * Creates the payer of the operator's sources: it pays from the agent's wallet, with a hold that the chain settles, as the
 * proxy pays vendors.
 */
export function createPaidCalls(deps: PaidCallDeps): PaidCalls {
  async function send(request: PaidRequest): Promise<PaidOutcome> {
    const call = callOf(request);
    const paying = { ...deps, times: timesOf(request), refusalOfHold: unaffordable };
    let quoted: QuotedCall;
    let reserved: Reserved;
    try {
      quoted = await quoteCall(paying, call);
      if (quoted.kind === 'free') {
        return { kind: 'answered', answer: quoted.answer, payment: undefined };
      }
      reserved = await reservePayment(paying, call, quoted);
    } catch (error) {
      return unpaid(error, request.signal);
    }
    try {
      const { destination } = quoted;
      const { answer, row } = await payVendor(paying, destination, call.request, reserved);
      await deps.onStep('answering');
      const { nonce, validBefore, valueRaw: paidRaw } = row;
      return { kind: 'answered', answer, payment: { nonce, validBefore, paidRaw } };
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      return { kind: 'spent', refusal: error };
    }
  }

  return { send };
}

const callOf = ({ maker: host, mostRaw, holdId, ...request }: PaidRequest): VendorCall => ({
  spender: request.spender,
  url: request.url,
  workId: holdId,
  signal: abortSignalOf(request.signal),
  request: { method: 'POST', headers: request.headers, body: request.body },
  source: { host, mostRaw },
});

const timesOf = ({ totalMs, firstByteMs, idleMs, responseBytes }: PaidRequest): VendorTimes => ({
  unpaidMs: totalMs,
  paidMs: totalMs,
  firstByteMs,
  idleMs,
  responseBytes,
});

class Unaffordable extends Error {
  readonly refusal: HoldRefusal;

  constructor(refusal: HoldRefusal) {
    super(refusal.reason);
    this.refusal = refusal;
  }
}

const unaffordable = (refusal: HoldRefusal) => new Unaffordable(refusal);

/** Maps an error before any payment to an outcome. */
function unpaid(error: unknown, signal: StopSignal): PaidOutcome {
  if (error instanceof Unaffordable) return { kind: 'unaffordable', refusal: error.refusal };
  if (error instanceof AsksTooMuch) {
    return { kind: 'unpaid', failure: 'too_dear', detail: error.message };
  }
  if (!(error instanceof ApiError)) throw error;
  if (signal.aborted) return { kind: 'aborted' };
  return { kind: 'unpaid', failure: failureOf(error), detail: detailOf(error) };
}

/** Returns the failure: of the vendor, or else `unpayable` by this server or the wallet. */
function failureOf(error: ApiError): RailFailure {
  if (!(error instanceof VendorCallFailed)) return 'unpayable';
  return error.fault === 'busy' ? 'busy' : 'unreachable';
}
