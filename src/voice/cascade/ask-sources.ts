import { assert } from '../../kernel/assert.ts';
import type { Clock } from '../../kernel/clock.ts';
import { newId } from '../../kernel/ids.ts';
import { isObject } from '../../kernel/json.ts';
import type { Log } from '../../kernel/log.ts';
import type { Random } from '../../kernel/random.ts';
import type { StopSignal } from '../../kernel/stop-signal.ts';
import type { Spender } from '../../ledger/rules/requests.ts';
import type { Source } from '../../models/catalogue/catalogue.ts';
import type { CircuitBreaker } from '../../models/providers/circuit-breaker.ts';
import { type Completed, failed, type Outcome } from '../../models/providers/outcome.ts';
import type { PaymentMethod } from '../../models/providers/payment-method.ts';
import {
  attemptOffers,
  hasDelivered,
  isPassedOver,
  joinStages,
  paymentFor,
  type Undelivered,
} from '../../models/purchase/attempt.ts';
import {
  holdForRaw,
  isPaidByItself,
  type Offer,
  type Offers,
} from '../../models/routing/plan-offers.ts';
import { refuseOutcome } from '../../models/routing/refuse-outcome.ts';
import type { Span } from '../../platform/tracing/span.ts';
import type { SessionTrace } from '../live/session-trace.ts';
import { StageFailed } from '../session/voice-pipeline.ts';
import type { ChargesOnHold, Holding } from './charges-by-hold.ts';
import type { ModelBinding } from './model-binding.ts';
import type { Share, UnbilledCharges } from './unbilled-charges.ts';

export type AskSourcesDeps = {
  readonly breaker: CircuitBreaker;
  readonly clock: Clock;
  readonly log: Log;
  readonly random: Random;
  readonly spender: Spender;
  readonly chargesOn: (sessionHold: string) => ChargesOnHold;
  /** Parent span of the purchases. Undefined when the session is not traced. */
  readonly trace?: Pick<SessionTrace, 'span'> | undefined;
};

export type StageRequest<R, T> = {
  readonly part: ModelBinding<R>;
  readonly priceRaw: (source: Source) => bigint;
  /** Returns how `mostRaw` is to be held in the hold that pays. Called right before the amount is held. */
  readonly holding?: (sessionHold: string, mostRaw: bigint) => Holding;
  /** Returns true for a source that is not asked. At least one source is left. */
  readonly avoids?: (source: Source) => boolean;
  /** Stops the attempts: no source is called once the signal has fired. */
  readonly signal: StopSignal;
  readonly ask: (offer: Offer<R>, paymentMethod: PaymentMethod | undefined) => Promise<Outcome<T>>;
};

export type StageResponse<T> = {
  readonly outcome: Completed<T>;
  readonly source: Source;
  /** Span of the attempt that delivered; its charge ends the span. */
  readonly span?: Span | undefined;
  /** Unbilled charges to which the caller adds the charge of this purchase. */
  readonly tab: UnbilledCharges;
  /** Holds for further purchases at the same source. */
  readonly hold: ChargesOnHold['hold'];
  /** The amount held for this purchase. The caller opens its charge with the share, or drops the share. */
  readonly share: Share;
};

/**
 * Holds the upper bound of a stage's cost, and calls its sources, cheapest first, until one source delivers. Sources for the
 * caller's own keys come first; the pool's sources follow under another hold. Resolves to undefined when `signal` fires. Throws
 * StageFailed when no source delivers or the cost cannot be held.
 */
export async function askSources<R, T>(
  deps: AskSourcesDeps,
  question: StageRequest<R, T>,
): Promise<StageResponse<T> | undefined> {
  const { part, priceRaw, signal } = question;
  const { model, ownKeys } = part;
  await ownKeys.lookUp(model.id);
  let last: Undelivered | undefined;
  for (const { offers: all, sessionHold } of part.stages(priceRaw)) {
    const [first, ...more] = all.filter(({ source }) => question.avoids?.(source) !== true);
    if (first === undefined) continue;
    const offers: Offers<R> = [first, ...more];
    if (last !== undefined && !isPassedOver(last.outcome, last.source)) break;
    const { hold, tab } = deps.chargesOn(sessionHold);
    const mostRaw = mostOf(offers, tab.hasFeeOf(model.id));
    const holding = question.holding?.(sessionHold, mostRaw);
    const isPayment = offers.some(isPaidByItself);
    // The hold of a per-call payment is never quiet, so speculative work is refused here.
    if (isPayment && holding?.isQuiet) throw new StageFailed('not_begun', 'It is speculative.');
    let share: Share;
    try {
      share = await hold(mostRaw, holding);
    } catch (error) {
      // The outcome at the caller's own account is reported when the pool cannot be paid.
      if (last?.source.rail === 'byok' && error instanceof StageFailed) break;
      throw error;
    }
    share.isPayment = isPayment;
    let isBought = false;
    try {
      if (signal.aborted) return undefined;
      const span = deps.trace?.span;
      const asked = await attemptOffers<R, T>(deps, {
        offers,
        before: last,
        traced: span && { span, model, agentId: deps.spender.agentId },
        ask: (offer) => askOffer(deps, question, offer),
      });
      const attempted = joinStages(last, asked);
      if (hasDelivered(attempted)) {
        isBought = true;
        const { outcome, source, span } = attempted;
        return { outcome, source, share, span, tab, hold };
      }
      if (attempted.outcome.kind === 'aborted') return undefined;
      last = attempted;
    } finally {
      if (!isBought) share.drop();
    }
  }
  assert(last !== undefined, 'a bound model has sources');
  throw failureOf(last);
}

async function askOffer<R, T>(
  { log, random, spender }: AskSourcesDeps,
  { ask, part }: StageRequest<R, T>,
  offer: Offer<R>,
): Promise<Outcome<T>> {
  if (offer.ownKey !== undefined) await part.ownKeys.noteUse(offer.source);
  const workId = isPaidByItself(offer) ? newId(random, 'buy_') : '';
  const method = paymentFor(offer, part.model, spender, workId);
  return judge(log, offer, ask(offer, method));
}

/** Returns the upper bound of the amount that one purchase adds. A fee that is already on the tab counts once. */
const mostOf = (offers: Offers<unknown>, hasFee: boolean): bigint =>
  holdForRaw(offers.filter(({ source }) => !hasFee || source.rail !== 'byok'));

/**
 * Turns a provider's refusal of this server's credential into a failure, so that other sources are tried. The caller could not
 * fix the credential.
 */
async function judge<T>(
  log: Log,
  { ownKey, source: { provider } }: Offer<unknown>,
  answer: Promise<Outcome<T>>,
): Promise<Outcome<T>> {
  const outcome = await answer;
  if (ownKey !== undefined || outcome.kind !== 'declined') return outcome;
  const { status } = outcome;
  if (status !== 401 && status !== 403) return outcome;
  log.error({ provider, status }, 'a provider refused the credential of this server');
  return failed('broken', `status ${status}`, status);
}

function failureOf(attempted: Undelivered): StageFailed {
  const { outcome } = attempted;
  if (outcome.kind === 'declined') {
    return new StageFailed(
      'upstream_declined',
      `The upstream refused the request with status ${outcome.status}.`,
    );
  }
  const { error, fields } = refuseOutcome(outcome, attempted, { rateLimits: undefined });
  const why = fields.message ?? fields.detail ?? error;
  const { reservation } = fields;
  // Names the reservation, by which the developer can look up a payment that may have been made without a result.
  const where = isObject(reservation) ? ` Reservation ${reservation.nonce}.` : '';
  return new StageFailed(String(fields.code ?? error), `${why}${where}`);
}
