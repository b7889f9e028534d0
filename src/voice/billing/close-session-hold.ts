import { minRaw } from '../../kernel/amount.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Log } from '../../kernel/log.ts';
import type { SpendAccount } from '../../ledger/rules/accounts.ts';
import { type ChargeRow, chargeRow, type EventRow } from '../../ledger/rules/companion.ts';
import { makerOf } from '../../ledger/rules/destination.ts';
import type { Ledger } from '../../ledger/rules/ledger.ts';
import type { Destination, SessionClaim, Spender } from '../../ledger/rules/requests.ts';
import type { SessionSummary } from '../../ledger/rules/session-summary.ts';
import type { Source } from '../../models/catalogue/catalogue.ts';

/** The spender of a hold, and the purpose of the hold. */
export type HeldFor = {
  readonly spender: Spender;
  readonly sessionId: string;
  /** Id of the session that shows this charge in its history, when the hold belongs to another session. */
  readonly partOf?: string;
  readonly model: string;
  readonly source: Source;
  /** Booking of a hold that pays for no model, such as that of a call's legs. */
  readonly booking?: Booking;
};

/** Ledger entries of a hold that pays for the legs of a call. */
export type Booking = {
  readonly target: string;
  readonly destination: Destination;
  readonly account: SpendAccount;
  /** Returns the charge rows for the whole charged amount; `events` are written in the same commit. */
  readonly charges: (chargedRaw: bigint, status: ChargeRow['status']) => readonly ChargeRow[];
  readonly events: (chargedRaw: bigint, reason: string) => readonly EventRow[];
  /** Awaited before the hold is settled under this claim, to collect the contents of its events. */
  readonly ending: (reason: string, claim: SessionClaim) => Promise<void>;
  /** Called once this process has settled the hold. */
  readonly settled: (chargedRaw: bigint, reason: string) => void;
  /** Called when this process has not settled the hold: the ledger did not answer, or the hold stays open. */
  readonly undecided: (reason: string) => void;
  /**
   * Returns the usage to journal when the session has ended here and its hold stays open for another worker to settle.
   * Undefined when the hold is settled now.
   */
  readonly leftOpen?: (reason: string) => Readonly<Record<string, number>> | undefined;
};

export type SettleOutcome = {
  readonly reason: string;
  readonly status: ChargeRow['status'];
  /** Returns the session's summary. Called once everything before the settlement is done. */
  readonly summary?: () => SessionSummary;
  /** Called for each hold with the amount that the ledger charged. */
  readonly charged?: ((raw: bigint) => void) | undefined;
};

/** Returns the target of a model's charges in the ledger. */
export const gatewayTarget = (source: Source): string =>
  `gateway://${source.provider}/${source.upstreamModel}`;

/** Returns the account that receives the payments for a source. */
export const accountOf = ({ rail }: Source): SpendAccount => (rail === 'byok' ? 'byok' : 'gateway');

type ClosingDeps = {
  readonly ledger: Pick<Ledger, 'closeSession'>;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly log: Log;
};

type Closing = {
  readonly claim: SessionClaim;
  readonly spentRaw: bigint;
  readonly beyondRaw: bigint;
  readonly usage: Readonly<Record<string, number>>;
  readonly openedAtMs: number;
} & SettleOutcome;

/** Settles a hold to the journaled amount. The charge rows and events of its booking are written in the same commit. */
export async function closeClaim(
  { ledger, clock, log }: ClosingDeps,
  owner: HeldFor,
  { charged, claim, spentRaw, beyondRaw, usage, openedAtMs, reason, status, summary }: Closing,
): Promise<void> {
  const latencyMs = clock.monotonicMs() - openedAtMs;
  const { booking } = owner;
  const line = (costRaw: bigint) => [sessionCharge(owner, { costRaw, usage, status, latencyMs })];
  const charges = booking ? (raw: bigint) => booking.charges(raw, status) : line;
  await booking?.ending(reason, claim);
  const verdict = await ledger.closeSession({
    claim,
    reason,
    summary: summary?.(),
    actualRaw: spentRaw + beyondRaw,
    billableRaw: spentRaw,
    account: booking?.account ?? accountOf(owner.source),
    source: owner.source.provider,
    // A session without charges has no charge row.
    ...(spentRaw > 0n && { charges }),
    ...(booking && { events: booking.events(minRaw(spentRaw, claim.hold.amountRaw), reason) }),
  });
  if (verdict.kind === 'settled') {
    charged?.(verdict.chargedRaw);
    booking?.settled(verdict.chargedRaw, reason);
  } else {
    log.warn({ sessionId: owner.sessionId }, 'session was settled elsewhere');
  }
}

const sessionCharge = (
  { model, partOf, sessionId, source, spender }: HeldFor,
  line: Pick<ChargeRow, 'costRaw' | 'usage' | 'status' | 'latencyMs'>,
): ChargeRow =>
  chargeRow(spender, {
    targetUrl: gatewayTarget(source),
    targetHost: makerOf(model),
    method: 'GET',
    model,
    rail: source.rail,
    sessionId: partOf ?? sessionId,
    responseStatusCode: 101,
    ...line,
  });
