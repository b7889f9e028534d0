import type { Source } from '../../gateway/catalogue.ts';
import { holdForRaw, type Offer, type Offers } from '../../gateway/plan-offers.ts';
import { refuseOutcome } from '../../gateway/purchase.ts';
import { type Tried, trySources } from '../../gateway/try-sources.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Log } from '../../kernel/log.ts';
import type { StopSignal } from '../../kernel/stop-signal.ts';
import { type Completed, failed, type Outcome } from '../../rails/outcome.ts';
import type { SourceRests } from '../../rails/rest-failing-source.ts';
import { LegFailed } from '../realtime/legs.ts';
import type { HoldShare } from './hold-share.ts';
import type { Share } from './tab.ts';

export type AskDeps = {
  readonly rests: SourceRests;
  readonly clock: Clock;
  readonly log: Log;
  readonly hold: HoldShare;
};

export type Question<R, T> = {
  readonly offers: Offers<R>;
  /** What must be held in all at least. */
  readonly floorRaw?: bigint;
  /** Nobody is asked once it has fired. */
  readonly signal: StopSignal;
  readonly ask: (offer: Offer<R>) => Promise<Outcome<T>>;
};

export type Asked<T> = {
  readonly outcome: Completed<T>;
  readonly source: Source;
  /** For whoever puts it on the tab: to be given its line, or dropped. */
  readonly share: Share;
};

/**
 * Holds what the dearest source of a leg would cost, and asks them, cheapest first, until one delivers. Undefined: the
 * asker has left. Throws LegFailed where nobody does, or it cannot be paid.
 */
export async function askSources<R, T>(
  deps: AskDeps,
  question: Question<R, T>,
): Promise<Asked<T> | undefined> {
  const { floorRaw, offers, signal } = question;
  const share = await deps.hold(holdForRaw(offers), floorRaw);
  let answer: Omit<Asked<T>, 'share'> | undefined;
  try {
    answer = signal.aborted ? undefined : await tryAll(deps, question);
  } finally {
    if (answer === undefined) share.drop();
  }
  return answer && { ...answer, share };
}

async function tryAll<R, T>(
  deps: AskDeps,
  { ask, offers }: Question<R, T>,
): Promise<Omit<Asked<T>, 'share'> | undefined> {
  const tried = await trySources<R, T>(deps, {
    offers,
    ask: async (offer) => judge(deps.log, offer.source, await ask(offer)),
    before: { attempts: 0, upstreamMs: 0 },
  });
  const { outcome, source } = tried;
  if (outcome.kind === 'completed') return { outcome, source };
  if (outcome.kind === 'aborted') return undefined;
  throw failureOf(tried);
}

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
  return new LegFailed(String(fields.code ?? error), String(fields.message ?? error));
}
