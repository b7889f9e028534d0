import type { Clock } from '../../kernel/clock.ts';
import type { Log } from '../../kernel/log.ts';
import { makerOf } from '../../ledger/rules/destination.ts';
import { paymentHoldId } from '../../ledger/rules/payment.ts';
import type { Spender } from '../../ledger/rules/requests.ts';
import type { Span } from '../../platform/tracing/span.ts';
import type { Model, Source } from '../catalogue/catalogue.ts';
import type { CircuitBreaker } from '../providers/circuit-breaker.ts';
import type { Completed, Failed, Outcome, RailFailure, Unfit } from '../providers/outcome.ts';
import type { PaymentMethod } from '../providers/payment-method.ts';
import { withTraceHeaders } from '../providers/upstream-trace.ts';
import {
  type AttemptFacts,
  beginAttempt,
  endUndelivered,
  noteFirstChunk,
} from '../routing/attempt-span.ts';
import type { StoredKeys } from '../routing/keyed-sources.ts';
import type { Offer, Offers } from '../routing/plan-offers.ts';
import type { HeldRequest, Product } from './product.ts';

export type AttemptDeps = {
  readonly breaker: CircuitBreaker;
  readonly clock: Clock;
  readonly log: Log;
};

/** Number of attempts, source of the last attempt, and milliseconds that all upstreams took. */
export type Attempts = {
  readonly source: Source;
  readonly attempts: number;
  readonly upstreamMs: number;
  /** Last outcome in which a source refused the request because of a rate limit. */
  readonly limited?: { readonly outcome: Failed; readonly source: Source } | undefined;
};

/** Earlier attempts at the same purchase. */
export type EarlierAttempts = Omit<Attempts, 'source'>;

const NO_ATTEMPTS: EarlierAttempts = { attempts: 0, upstreamMs: 0 };

export type Delivered<T> = Attempts & {
  readonly outcome: Completed<T>;
  /** Span of the attempt that delivers, which ends with the answer. Undefined: the attempt is not traced. */
  readonly span?: Span | undefined;
};
export type Undelivered = Attempts & { readonly outcome: Outcome<never> | Resting };
export type Attempted<T> = Delivered<T> | Undelivered;

export const hasDelivered = <T>(attempted: Attempted<T>): attempted is Delivered<T> =>
  attempted.outcome.kind === 'completed';

/**
 * Outcome without an attempt, because all sources failed recently. `restMs` is the time until the first source may be attempted
 * again, in milliseconds.
 */
type Resting = { readonly kind: 'resting'; readonly restMs: number };

/**
 * Failures that do not count against a source. If they counted, one caller (with an oversized request, or a flood of requests)
 * could switch a source off for everybody.
 */
const PROVES_NOTHING: ReadonlySet<RailFailure> = new Set([
  'rate_limited',
  'oversize',
  'busy',
  'missing',
  'too_dear',
  'unpayable',
]);

/**
 * Returns true when another source should be attempted: the source failed, is backing off, cannot serve the request, or refused a
 * buyer's own key. When the wallet lacks money, sources with an account of this server remain; a spend control refuses all
 * sources.
 */
export function isPassedOver(outcome: Attempted<unknown>['outcome'], { rail }: Source): boolean {
  switch (outcome.kind) {
    case 'failed':
    case 'resting':
    case 'unfit':
      return true;
    case 'declined':
      return rail === 'byok' && (outcome.status === 401 || outcome.status === 403);
    case 'unaffordable':
      return outcome.refusal.reason === 'insufficient_balance';
    default:
      return false;
  }
}

type KeyedAttemptDeps = AttemptDeps & { readonly providerKeys: Pick<StoredKeys, 'noteUse'> };

/** Attempts the offers of a held request in their order until one delivers. */
export function attempt<Q, B, R, T>(
  deps: KeyedAttemptDeps,
  product: Product<Q, B, R, T>,
  request: HeldRequest<Q, B, R>,
  before: EarlierAttempts | undefined,
): Promise<Attempted<T>> {
  const { buyer, held, quote } = request;
  const { model, offers } = quote;
  const { span, spender } = buyer;
  const { holdId } = held.hold;
  return attemptOffers(deps, {
    offers,
    before,
    traced: span && { span, model, holdId, agentId: spender.agentId },
    ask(offer) {
      const noted = noteKeyUse(deps, request, offer);
      const method = paymentFor(offer, model, spender, holdId);
      return noted === undefined
        ? product.attempt(request, offer, method)
        : noted.then(() => product.attempt(request, offer, method));
    },
  });
}

/** Records that an attempt uses a stored key of the buyer. A key that came with the request is not stored. */
const noteKeyUse = (
  { providerKeys }: KeyedAttemptDeps,
  { buyer }: Pick<HeldRequest<unknown, unknown, unknown>, 'buyer'>,
  { ownKey, source }: Offer<unknown>,
): Promise<void> | undefined =>
  ownKey === undefined || buyer.providerKey !== undefined
    ? undefined
    : providerKeys.noteUse(buyer.accountId, source.provider);

/**
 * Returns the payment of an attempt: the buyer's own key at the provider, or a hold of its own, whose id begins with `workId`.
 * Undefined when this server's account at the provider pays.
 */
export function paymentFor(
  { mostPaidRaw: mostRaw, ownKey }: Offer<unknown>,
  model: Model,
  spender: Spender,
  workId: string,
): PaymentMethod | undefined {
  if (ownKey !== undefined) return { ownKey };
  if (mostRaw === undefined) return undefined;
  return { budget: { spender, maker: makerOf(model.id), mostRaw, holdId: paymentHoldId(workId) } };
}

/**
 * Buys from the first offer that answers. Passes over sources that fail, and skips sources that failed repeatedly, except at a
 * buyer's own account, whose failures say nothing about other accounts. A source that cannot take the request is passed over
 * without an attempt; its reason is the outcome when no other source is left.
 */
export async function attemptOffers<R, T>(
  deps: AttemptDeps,
  request: {
    readonly offers: Offers<R>;
    readonly ask: (offer: Offer<R>) => Promise<Outcome<T>>;
    /** Facts for the spans of the attempts. Undefined: the attempts are not traced. */
    readonly traced?: AttemptFacts | undefined;
    readonly before?: EarlierAttempts | undefined;
  },
): Promise<Attempted<T>> {
  const { breaker, clock, log } = deps;
  const { before = NO_ATTEMPTS, offers, traced } = request;
  let last: Undelivered = {
    ...before,
    outcome: { kind: 'resting', restMs: 0 },
    source: offers[0].source,
  };
  let unfit: Unfit | undefined;
  let restMs: number | undefined;
  let { limited } = before;
  for (const offer of offers) {
    const { source } = offer;
    const key = restKeyOf(source);
    if (key !== undefined && !breaker.admits(key)) {
      restMs = Math.min(restMs ?? Number.POSITIVE_INFINITY, breaker.restMs(key));
      continue;
    }

    const startedMs = clock.monotonicMs();
    const attempts = last.attempts + 1;
    const span = traced && beginAttempt(traced, source, attempts);
    let outcome: Outcome<T> | undefined;
    try {
      outcome = await askUnder(span, () => request.ask(offer));
    } finally {
      if (key !== undefined) note(breaker, key, outcome);
      if (outcome?.kind !== 'completed') endUndelivered(span, outcome);
    }
    if (outcome.kind === 'unfit') {
      unfit ??= outcome;
      continue;
    }
    const tookMs = clock.monotonicMs() - startedMs;
    const upstreamMs = last.upstreamMs + tookMs;
    if (outcome.kind === 'completed') {
      noteFirstChunk(span, tookMs, 'body' in outcome || 'response' in outcome);
      return { outcome, source, attempts, upstreamMs, limited, span };
    }
    if (isLimited(outcome)) limited = { outcome, source };
    last = { outcome, source, attempts, upstreamMs, limited };
    logOutcome(log, source.provider, outcome);
    if (!isPassedOver(outcome, source)) return last;
  }
  if (last.outcome.kind !== 'resting') return last;
  // A source that is backing off may later accept a request that no other source can serve.
  if (unfit !== undefined && restMs === undefined) return { ...last, outcome: unfit };
  return { ...last, outcome: { kind: 'resting', restMs: restMs ?? 0 } };
}

/**
 * Chooses the outcome after two stages of sources, as if both had been one stage: first an answer or failure of an attempted
 * source, then the shorter `resting`, then `unfit`. When the first stage was the buyer's own key, the outcome of the second
 * stage counts.
 */
export function joinStages<T>(
  before: Undelivered | undefined,
  attempted: Attempted<T>,
): Attempted<T> {
  if (before === undefined || before.source.rail === 'byok') return attempted;
  const first = before.outcome;
  const { outcome } = attempted;
  if (outcome.kind === 'unfit') return before;
  if (outcome.kind !== 'resting' || first.kind === 'unfit') return attempted;
  if (first.kind !== 'resting') return before;
  return first.restMs <= outcome.restMs ? before : attempted;
}

/** Sends the request with the headers of the trace, when the operator has upstreams continue traces. */
function askUnder<T>(span: Span | undefined, ask: () => Promise<T>): Promise<T> {
  const headers = span?.upstreamHeaders;
  return headers === undefined ? ask() : withTraceHeaders(headers, ask);
}

/** Returns the key under which the failures of a source count. Undefined for a buyer's own account, which is never skipped. */
const restKeyOf = ({ rail, provider, upstreamModel }: Source): string | undefined =>
  rail === 'byok' ? undefined : `${provider}/${upstreamModel}`;

/** Makes a source that reports impossible usage back off, unless it is a buyer's own account. */
export function distrust(
  { log, breaker }: { readonly breaker: Pick<CircuitBreaker, 'distrusted'>; readonly log: Log },
  source: Source,
): void {
  const key = restKeyOf(source);
  if (key === undefined) return;
  breaker.distrusted(key);
  const { provider, upstreamModel } = source;
  log.error(
    { provider, upstreamModel },
    'a source reported usage that its request cannot have had, and rests',
  );
}

const isLimited = (outcome: Outcome<unknown>): outcome is Failed =>
  outcome.kind === 'failed' && outcome.failure === 'rate_limited';

function logOutcome(log: Log, provider: string, outcome: Outcome<unknown>): void {
  if (outcome.kind === 'failed') {
    const { failure, status, detail } = outcome;
    log.warn({ provider, failure, status, detail }, 'a source failed');
  }
  if (outcome.kind === 'spent') {
    const { error: why, fields } = outcome.refusal;
    log.error(
      { provider, why, reservation: fields.reservation },
      'a source was paid and did not deliver',
    );
  }
}

function note(breaker: CircuitBreaker, key: string, outcome: Outcome<unknown> | undefined): void {
  if (outcome?.kind === 'completed' || outcome?.kind === 'declined') breaker.answered(key);
  else if (outcome !== undefined && isFault(outcome)) breaker.failed(key);
  else breaker.abandoned(key);
}

/**
 * Returns true when an outcome is the source's fault. A paid request without a delivery counts when its status is 500 or more;
 * a lower status may be the caller's fault.
 */
function isFault(outcome: Outcome<unknown>): boolean {
  if (outcome.kind === 'spent') return outcome.refusal.status >= 500;
  return outcome.kind === 'failed' && !PROVES_NOTHING.has(outcome.failure);
}
