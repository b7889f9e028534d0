import type { RealtimeRelayEvent } from '../../../machines/realtime-relay.ts';
import type { Clock, TimerHandle } from '../../kernel/clock.ts';
import { holdLargestCount } from '../../ledger/rules/hold-what-fits.ts';
import type { Model } from '../../models/catalogue/catalogue.ts';
import type { SessionHold, SessionHoldOwner } from '../billing/session-hold.ts';
import { LEDGER_AWAY, turnRefused } from '../live/voice-endings.ts';
import type { VoiceLife } from '../live/voice-life.ts';

export type RelayMeterDeps = {
  readonly owner: SessionHoldOwner;
  readonly model: Model;
  readonly sessionHold: SessionHold;
  readonly clock: Clock;
  readonly life: Pick<VoiceLife, 'logError'>;
  readonly send: (event: RealtimeRelayEvent) => void;
};

/** Ends a session because the ledger does not answer. */
export function ledgerAway(
  { life, send }: Pick<RelayMeterDeps, 'life' | 'send'>,
  error: unknown,
): void {
  life.logError(error, 'ledger is away from a relayed session');
  send({ type: 'session.failed', ending: LEDGER_AWAY });
}

type JournalDeps = Pick<RelayMeterDeps, 'sessionHold' | 'life' | 'send'>;

/**
 * Journals a charge. Never rejects. `lost`: another process has the session, and `claim.lost` was sent. `unknown`: the ledger
 * does not answer, and `session.failed` was sent.
 */
export async function journalCharge(
  { sessionHold, life, send }: JournalDeps,
  costRaw: bigint,
  usage: Readonly<Record<string, number>>,
): Promise<'written' | 'lost' | 'unknown'> {
  try {
    const verdict = await sessionHold.journal(costRaw, usage);
    if (verdict === 'lost') send({ type: 'claim.lost' });
    return verdict;
  } catch (error) {
    ledgerAway({ life, send }, error);
    return 'unknown';
  }
}

/** Journals a charge and resolves to its amount; to undefined when it is not journaled. */
export async function journalBought(
  deps: JournalDeps,
  costRaw: bigint,
  usage: Readonly<Record<string, number>>,
): Promise<bigint | undefined> {
  return (await journalCharge(deps, costRaw, usage)) === 'written' ? costRaw : undefined;
}

/**
 * Extends the hold to the cost of `most` further seconds, or of as many as the balance and every cap allow. Ends the session
 * when not even `least` seconds are covered afterwards.
 */
export async function extendTimeHold(
  { send, sessionHold }: Pick<RelayMeterDeps, 'send' | 'sessionHold'>,
  {
    least,
    missingRaw,
    most,
  }: {
    readonly least: number;
    readonly most: number;
    readonly missingRaw: (seconds: number) => bigint;
  },
): Promise<void> {
  const isLast = missingRaw(least) > 0n;
  const { verdict } = await holdLargestCount({
    least,
    most,
    // A refusal has no consequence while the hold covers the time until the next check.
    isNeeded: isLast,
    priceRaw: missingRaw,
    hold: (raw, isQuiet) => sessionHold.extend(raw, isQuiet),
  });
  if (verdict.kind === 'lost') send({ type: 'claim.lost' });
  if (verdict.kind !== 'refused' || !isLast) return;
  send({ type: 'budget.spent', ending: turnRefused(verdict.refusal) });
}

/** Calls `check` every `everyMs`, never two at a time, until the returned function is called. */
export function repeatCheck(
  deps: Pick<RelayMeterDeps, 'clock' | 'life' | 'send'>,
  everyMs: number,
  check: () => Promise<void>,
): () => void {
  const { clock } = deps;
  let isStopped = false;
  let timer: TimerHandle;
  const schedule = () => {
    timer = clock.setTimeout(() => {
      check()
        .catch((error: unknown) => ledgerAway(deps, error))
        .finally(() => {
          if (!isStopped) schedule();
        });
    }, everyMs);
  };
  schedule();
  return () => {
    isStopped = true;
    clock.clearTimeout(timer);
  };
}
