import { ApiError } from '../../kernel/api-error.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { CheckedDestination } from '../../platform/egress/destination-guard.ts';
import type { GuardedMethod } from '../../platform/egress/guarded-client.ts';
import type { PaymentOffer } from '../../x402/offer.ts';
import { PAYMENT_LIMITS } from '../limits.ts';
import { PAYMENT_REQUIRED, type Probe, type Probed } from './probe-target.ts';

/** Fields of a vendor's offer that a quote keeps. The vendor's texts, which may be long, are left out. */
export type QuotedOffer = Pick<PaymentOffer, 'amountRaw' | 'payTo' | 'scheme'> & {
  /** Asset and payee in the vendor's own spelling. */
  readonly spelled: { readonly asset: string; readonly payTo: string };
};

/** A target's price for a call, with the time it was read. */
export type Quote =
  /** `priced`: the quote has at least one offer. */
  | { readonly kind: 'priced'; readonly offers: readonly QuotedOffer[]; readonly atMs: number }
  | { readonly kind: 'free'; readonly atMs: number };

export type Quoted =
  /** `cached`: the quote was known before this request. */
  | { readonly kind: 'quoted'; readonly quote: Quote; readonly cached: boolean }
  | { readonly kind: 'failed'; readonly detail: string };

export interface PriceQuotes {
  /**
   * Returns the target's price for a call with this method. An unreachable target is a `failed` quote; only a bug
   * rejects.
   */
  of(destination: CheckedDestination, method: GuardedMethod): Promise<Quoted>;
}

type Entry = { readonly answer: Promise<Quote>; saidMs: number | undefined };

/**
 * Requests the prices of targets, of each target once in half a minute however many callers want its price, and forgets
 * failures. The callers have had the guard check the destination, each anew: no quote outlives a block.
 */
export function createPriceQuotes(deps: {
  readonly probe: Probe;
  readonly clock: Clock;
}): PriceQuotes {
  const { probe, clock } = deps;
  /** Quotes by target, the oldest first. */
  const known = new Map<string, Entry>();

  async function ask(destination: CheckedDestination, method: GuardedMethod): Promise<Quote> {
    return quoteOf(await probe(destination, method, NOBODY_LEAVES), clock.now());
  }

  function begin(key: string, destination: CheckedDestination, method: GuardedMethod): Entry {
    const entry: Entry = { answer: ask(destination, method), saidMs: undefined };
    known.delete(key);
    known.set(key, entry);
    entry.answer.then(
      () => {
        entry.saidMs = clock.monotonicMs();
      },
      () => {
        if (known.get(key) === entry) known.delete(key);
      },
    );
    for (const [oldest] of known) {
      if (known.size <= PAYMENT_LIMITS.quote.kept) break;
      known.delete(oldest);
    }
    return entry;
  }

  function remembered(key: string): Entry | undefined {
    const entry = known.get(key);
    if (entry === undefined || entry.saidMs === undefined) return entry;
    return clock.monotonicMs() - entry.saidMs < PAYMENT_LIMITS.quote.timeoutMs ? entry : undefined;
  }

  return {
    async of(destination, method) {
      const key = `${method} ${destination.url}`;
      const entry = remembered(key) ?? begin(key, destination, method);
      const cached = entry.saidMs !== undefined;
      try {
        return { kind: 'quoted', quote: await entry.answer, cached };
      } catch (error) {
        if (error instanceof Unquotable) return { kind: 'failed', detail: error.message };
        if (error instanceof ApiError) return { kind: 'failed', detail: detailOf(error) };
        throw error;
      }
    },
  };
}

/** Signal that never fires. Several requests may share one probe, so a client that leaves must not end the probe. */
const NOBODY_LEAVES = new AbortController().signal;

/** Thrown when a target's answer has no price that can be read. */
class Unquotable extends Error {}

function quoteOf(probed: Probed, atMs: number): Quote {
  switch (probed.kind) {
    case 'priced':
      return { kind: 'priced', offers: probed.challenge.offers.map(quotedOffer), atMs };
    case 'unreadable':
      throw new Unquotable(`The payment that the target demands cannot be read: ${probed.detail}.`);
    case 'unpriced':
      if (probed.status === PAYMENT_REQUIRED) {
        throw new Unquotable('The target demands a payment and does not say which.');
      }
      // A 5xx status does not show that the target is free.
      if (probed.status >= 500) throw new Unquotable(`The target failed with ${probed.status}.`);
      return { kind: 'free', atMs };
  }
}

const quotedOffer = ({ amountRaw, payTo, scheme, entry }: PaymentOffer): QuotedOffer => ({
  amountRaw,
  payTo,
  scheme,
  spelled: { asset: String(entry.asset), payTo: String(entry.payTo) },
});

/** Returns the detail of a refusal, or its message when it has none. */
export const detailOf = ({ fields, message }: ApiError): string =>
  typeof fields.detail === 'string' ? fields.detail : message;
