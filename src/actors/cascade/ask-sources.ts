import type { Source } from '../../gateway/catalogue.ts';
import { makerOf } from '../../gateway/destination.ts';
import { holdForRaw, type Offer } from '../../gateway/plan-offers.ts';
import { refuseOutcome } from '../../gateway/refuse-outcome.ts';
import { isPassedOver, type Tried, trySources } from '../../gateway/try-sources.ts';
import { assert } from '../../kernel/assert.ts';
import type { Clock } from '../../kernel/clock.ts';
import { newId } from '../../kernel/ids.ts';
import { isObject } from '../../kernel/json.ts';
import type { Log } from '../../kernel/log.ts';
import type { Random } from '../../kernel/random.ts';
import type { StopSignal } from '../../kernel/stop-signal.ts';
import type { Spender } from '../../ledger/ledger.ts';
import { paymentHoldId } from '../../ledger/payment.ts';
import type { Means } from '../../rails/means.ts';
import { type Completed, failed, type Outcome } from '../../rails/outcome.ts';
import type { SourceRests } from '../../rails/rest-failing-source.ts';
import { LegFailed } from '../realtime/legs.ts';
import type { Part, Stage } from './part.ts';
import type { Holding, Pocket } from './pockets.ts';
import type { Share, Tab } from './tab.ts';

export type AskDeps = {
  readonly rests: SourceRests;
  readonly clock: Clock;
  readonly log: Log;
  readonly random: Random;
  readonly spender: Spender;
  readonly pocketOf: (purse: string) => Pocket;
};

export type Question<R, T> = {
  readonly part: Part<R>;
  readonly priceRaw: (source: Source) => bigint;
  /** How a purchase of so much is held for in the purse that pays, asked when it is to be. */
  readonly holding?: (purse: string, mostRaw: bigint) => Holding;
  /** Nobody is asked once it has fired. */
  readonly signal: StopSignal;
  readonly ask: (offer: Offer<R>, means: Means | undefined) => Promise<Outcome<T>>;
};

type Before = Pick<Tried<never>, 'attempts' | 'upstreamMs' | 'limited'>;

export type Asked<T> = {
  readonly outcome: Completed<T>;
  readonly source: Source;
  /** Where it is to stand. */
  readonly tab: Tab;
  /** For whoever puts it there: its line is opened with it, or it is dropped. */
  readonly share: Share;
};

/**
 * Holds what the dearest source of a leg would cost, and asks them, cheapest first, until one delivers: those that a key
 * of the caller's own opens, and where none of them does, under another hold, those of the pool. Undefined: the asker
 * has left. Throws LegFailed where nobody does, or it cannot be paid.
 */
export async function askSources<R, T>(
  deps: AskDeps,
  question: Question<R, T>,
): Promise<Asked<T> | undefined> {
  const { part, priceRaw, signal } = question;
  await part.ownKeys.lookUp(part.model.id);
  let tried: Tried<T> | undefined;
  for (const stage of part.stages(priceRaw)) {
    if (tried !== undefined && !isPassedOver(tried.outcome, tried.source)) break;
    const { hold, tab } = deps.pocketOf(stage.purse);
    const mostRaw = mostOf(stage, tab.hasFeeOf(part.model.id));
    const holding = question.holding?.(stage.purse, mostRaw);
    const isPayment = stage.offers.some(({ mostPaidRaw }) => mostPaidRaw !== undefined);
    // Its own hold is not quiet.
    if (isPayment && holding?.isQuiet) throw new LegFailed('not_begun', 'Nobody wants it yet.');
    let share: Share;
    try {
      share = await hold(mostRaw, holding);
    } catch (error) {
      // What the caller's own account was told stands where the pool may not be paid.
      if (tried?.source.rail === 'byok' && error instanceof LegFailed) break;
      throw error;
    }
    share.isPayment = isPayment;
    let isBought = false;
    try {
      if (signal.aborted) return undefined;
      tried = await tryAll(deps, question, { offers: stage.offers, before: attemptsOf(tried) });
      const { outcome, source } = tried;
      isBought = outcome.kind === 'completed';
      if (outcome.kind === 'completed') return { outcome, source, share, tab };
      if (outcome.kind === 'aborted') return undefined;
    } finally {
      if (!isBought) share.drop();
    }
  }
  assert(tried !== undefined, 'somebody sells a part');
  throw failureOf(tried);
}

const attemptsOf = (tried: Tried<unknown> | undefined): Before => ({
  attempts: tried?.attempts ?? 0,
  upstreamMs: tried?.upstreamMs ?? 0,
  limited: tried?.limited,
});

/** The most that one purchase adds. A fee that stands on the tab is taken once. */
const mostOf = ({ offers }: Stage<unknown>, hasFee: boolean): bigint =>
  holdForRaw(offers.filter(({ source }) => !hasFee || source.rail !== 'byok'));

function tryAll<R, T>(
  deps: AskDeps,
  { ask, part }: Question<R, T>,
  { before, offers }: Pick<Stage<R>, 'offers'> & { readonly before: Before },
): Promise<Tried<T>> {
  return trySources<R, T>(deps, {
    ...{ before, offers },
    async ask(offer) {
      const { ownKey, source } = offer;
      if (ownKey === undefined) {
        return judge(deps.log, source, await ask(offer, purseOf(deps, part, offer)));
      }
      await part.ownKeys.noteUse(source);
      return ask(offer, { ownKey });
    },
  });
}

/** What pays a source by itself, under a hold of its own. Undefined: it has an account that this server has. */
function purseOf<R>(
  { random, spender }: AskDeps,
  { model }: Part<R>,
  { mostPaidRaw: mostRaw }: Offer<R>,
): Means | undefined {
  if (mostRaw === undefined) return undefined;
  const holdId = paymentHoldId(newId(random, 'buy_'));
  return { purse: { spender, maker: makerOf(model.id), mostRaw, holdId } };
}

/** What of an answer was paid by itself, where it was. */
export const paidOf = ({ paidRaw }: { readonly paidRaw?: bigint | undefined }) =>
  paidRaw === undefined ? {} : { paidRaw };

/** A credential of this server that is refused is nothing that its caller could mend: others are asked. */
function judge<T>(log: Log, { provider }: Source, outcome: Outcome<T>): Outcome<T> {
  if (outcome.kind !== 'declined') return outcome;
  const { status } = outcome;
  if (status !== 401 && status !== 403) return outcome;
  log.error({ provider, status }, 'a provider refused the credential of this server');
  return failed('broken', `status ${status}`, status);
}

function failureOf(tried: Tried<unknown>): LegFailed {
  const { outcome } = tried;
  if (outcome.kind === 'declined' || outcome.kind === 'completed') {
    return new LegFailed(
      'upstream_declined',
      `The upstream refused the request with status ${outcome.status}.`,
    );
  }
  const { error, fields } = refuseOutcome(outcome, tried, { rateLimits: undefined });
  const why = fields.message ?? fields.detail ?? error;
  const { reservation } = fields;
  // A payment that may have been made in vain can be looked up.
  const where = isObject(reservation) ? ` Reservation ${reservation.nonce}.` : '';
  return new LegFailed(String(fields.code ?? error), `${why}${where}`);
}
