import type { Clock } from '../../kernel/clock.ts';
import type { Log } from '../../kernel/log.ts';
import { priceRaw, type Usage } from '../../kernel/price.ts';
import type { SpendAccount } from '../../ledger/rules/accounts.ts';
import { type ChargeRow, latencyOf } from '../../ledger/rules/companion.ts';
import { destinationOf, makerOf } from '../../ledger/rules/destination.ts';
import type { Ledger } from '../../ledger/rules/ledger.ts';
import type { HoldRefusal, SessionClaim, Spender } from '../../ledger/rules/requests.ts';
import type { SessionSummary } from '../../ledger/rules/session-summary.ts';
import type { Source } from '../../models/catalogue/catalogue.ts';
import type { CircuitBreaker } from '../../models/providers/circuit-breaker.ts';
import { distrust } from '../../models/routing/try-sources.ts';

export type SessionHoldDeps = {
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly log: Log;
  /** Undefined: its seller is trusted, such as the engines of this process. */
  readonly breaker?: Pick<CircuitBreaker, 'distrusted'>;
};

export type SessionHoldOwner = {
  readonly spender: Spender;
  readonly sessionId: string;
  /** The session beside whose line in history this hold's stands, where it is another's. */
  readonly partOf?: string;
  readonly kind: 'transcription' | 'realtime';
  readonly model: string;
  readonly source: Source;
};

export type SettleOutcome = {
  readonly reason: string;
  readonly status: ChargeRow['status'];
  /** How the session went, asked once everything before the settlement is done. */
  readonly summary?: () => SessionSummary;
};

export type Extension =
  | { readonly kind: 'extended' }
  | {
      readonly kind: 'refused';
      readonly refusal: HoldRefusal;
      /** Of several holds, which one it was, and all that may be held in it for what is not billed. */
      readonly short?: { readonly sessionHold: string; readonly roomRaw: bigint } | undefined;
    }
  | { readonly kind: 'lost' };

export type OpenedSessionHold =
  | { readonly kind: 'opened'; readonly sessionHold: SessionHold }
  | { readonly kind: 'refused'; readonly refusal: HoldRefusal };

/**
 * A session's money: what is held for it and what it has bought. Calls run one after another, so that
 * the settlement always comes last and knows everything.
 */
export interface SessionHold {
  readonly heldRaw: bigint;
  readonly spentRaw: bigint;
  /**
   * Holds so much more, nothing if it is not above zero; a function is asked when its turn has come. `isQuiet`: no client
   * wants it yet, and that it is refused has no consequence.
   */
  extend(wantedRaw: bigint | (() => bigint), isQuiet?: boolean): Promise<Extension>;
  /** Writes what was bought. `lost`: the session is settled, here or by another process, and this is not in it. */
  journal(costRaw: bigint, usage: Readonly<Record<string, number>>): Promise<'written' | 'lost'>;
  /**
   * The upstream tells of so much more than it can have come to. It is never the agent's: it stands as a shortfall of the
   * source, which rests where its word is impossible.
   */
  disown(beyondRaw: bigint, isImpossible: boolean): void;
  /** Settles the hold to everything bought, with one charge row. Safe to call twice. */
  settle(outcome: SettleOutcome): Promise<void>;
}

/** Where a model's spend stands in the ledger. */
const gatewayTarget = (source: Source): string =>
  `gateway://${source.provider}/${source.upstreamModel}`;

const accountOf = ({ rail }: Source): SpendAccount => (rail === 'byok' ? 'byok' : 'gateway');

/** The price of `usage` at this session's source. */
export const sessionPrice = (source: Source, usage: Usage): bigint =>
  priceRaw(usage, source.rates, source.marginBps);

/** Holds `reserveRaw` for a new session, or says why not. Where less may do, it `isQuiet`. */
export async function openSessionHold(
  deps: SessionHoldDeps,
  owner: SessionHoldOwner,
  reserveRaw: bigint,
  isQuiet = false,
): Promise<OpenedSessionHold> {
  const { spender, sessionId, kind, model, source } = owner;
  const target = gatewayTarget(source);
  const opened = await deps.ledger.openSession({
    spender,
    sessionId,
    reserveRaw,
    kind,
    target,
    model,
    destination: destinationOf(model),
    account: accountOf(source),
    isQuiet,
  });
  if (opened.kind === 'refused') return opened;
  return { kind: 'opened', sessionHold: createPurse(deps, owner, opened.claim) };
}

function createPurse(
  deps: SessionHoldDeps,
  owner: SessionHoldOwner,
  opened: SessionClaim,
): SessionHold {
  const { ledger, log } = deps;
  const openedAtMs = deps.clock.monotonicMs();
  const usage: Record<string, number> = {};
  let claim = opened;
  let spentRaw = 0n;
  let beyondRaw = 0n;
  let seq = 0;
  let isSettled = false;
  let settlement: Promise<void> | undefined;
  const inOrder = oneAfterAnother();

  /** Of an extension that the ledger did not answer in time: it may come to pass, and no other fits behind it. */
  let unansweredRaw = 0n;
  const ask = async (byRaw: bigint, isQuiet: boolean): Promise<Extension> => {
    unansweredRaw = byRaw;
    const verdict = await ledger.extend(claim, byRaw, isQuiet);
    unansweredRaw = 0n;
    if (verdict.kind === 'extended') claim = verdict.claim;
    if (verdict.kind === 'lost') isSettled = true;
    return verdict;
  };

  return {
    get heldRaw() {
      return claim.hold.amountRaw;
    },
    get spentRaw() {
      return spentRaw;
    },
    extend: (wantedRaw, isQuiet = false) =>
      inOrder(async () => {
        if (isSettled) return { kind: 'lost' };
        if (unansweredRaw > 0n) {
          const before = await ask(unansweredRaw, true);
          if (before.kind === 'lost') return before;
        }
        const byRaw = typeof wantedRaw === 'bigint' ? wantedRaw : wantedRaw();
        return byRaw <= 0n ? { kind: 'extended' } : ask(byRaw, isQuiet);
      }),
    journal: (costRaw, bought) =>
      inOrder(async () => {
        if (isSettled) return 'lost';
        // Counted before the write: what an unanswered append bought is still settled at the end.
        spentRaw += costRaw;
        seq += 1;
        addUsage(usage, bought);
        const verdict = await ledger.journal(claim, [{ seq, costRaw, usage: bought }]);
        if (verdict === 'lost') isSettled = true;
        return verdict;
      }),
    disown(raw, isImpossible) {
      beyondRaw += raw;
      if (isImpossible && deps.breaker) distrust({ log, breaker: deps.breaker }, owner.source);
    },
    settle(outcome) {
      settlement ??= inOrder(async () => {
        if (isSettled) return;
        const spent = { spentRaw, beyondRaw, usage, openedAtMs };
        await closeClaim(deps, owner, { claim, ...spent, ...outcome });
        isSettled = true;
      }).catch((error: unknown) => unsettled(log, owner, error));
      return settlement;
    },
  };
}

/** Each call waits for the one before it, however that ends. */
function oneAfterAnother() {
  let tail: Promise<unknown> = Promise.resolve();
  return <T>(work: () => Promise<T>): Promise<T> => {
    const result = tail.then(work);
    tail = result.catch(() => {});
    return result;
  };
}

/** What was only late still comes to pass. Otherwise the journal stays, and a reaper settles from it. */
function unsettled(log: Log, { sessionId }: SessionHoldOwner, err: unknown): void {
  log.error({ err, sessionId }, 'session is not known to be settled');
}

function addUsage(sum: Record<string, number>, bought: Readonly<Record<string, number>>): void {
  for (const [unit, amount] of Object.entries(bought)) {
    sum[unit] = Math.round(((sum[unit] ?? 0) + amount) * 1_000) / 1_000;
  }
}

type Closing = {
  readonly claim: SessionClaim;
  readonly spentRaw: bigint;
  readonly beyondRaw: bigint;
  readonly usage: Readonly<Record<string, number>>;
  readonly openedAtMs: number;
} & SettleOutcome;

async function closeClaim(
  { ledger, clock, log }: SessionHoldDeps,
  owner: SessionHoldOwner,
  { claim, spentRaw, beyondRaw, usage, openedAtMs, reason, status, summary }: Closing,
): Promise<void> {
  const latencyMs = latencyOf(clock.monotonicMs() - openedAtMs);
  const verdict = await ledger.closeSession({
    claim,
    reason,
    summary: summary?.(),
    actualRaw: spentRaw + beyondRaw,
    billableRaw: spentRaw,
    account: accountOf(owner.source),
    source: owner.source.provider,
    // A session that bought nothing leaves no line.
    ...(spentRaw > 0n && {
      charge: (costRaw: bigint) => chargeRow(owner, { costRaw, usage, status, latencyMs }),
    }),
  });
  if (verdict.kind === 'already_resolved') {
    log.warn({ sessionId: owner.sessionId }, 'session was settled elsewhere');
  }
}

function chargeRow(
  owner: SessionHoldOwner,
  line: Pick<ChargeRow, 'costRaw' | 'usage' | 'status' | 'latencyMs'>,
): ChargeRow {
  const { spender, source } = owner;
  return {
    agentId: spender.agentId,
    keyId: spender.keyId ?? null,
    targetUrl: gatewayTarget(source),
    targetHost: makerOf(owner.model),
    method: 'GET',
    model: owner.model,
    rail: source.rail,
    taskId: spender.taskId ?? null,
    actionId: spender.actionId ?? null,
    customerId: spender.customerId ?? null,
    sessionId: owner.partOf ?? owner.sessionId,
    payee: null,
    responseStatusCode: 101,
    overheadMs: null,
    upstreamMs: null,
    ...line,
  };
}
