import type { RealtimeRelayEvent } from '../../../machines/realtime-relay.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Model } from '../../models/catalogue/catalogue.ts';
import type { MeteredEvent } from '../../models/providers/realtime/metered-event.ts';
import type { SessionHold, SessionHoldOwner } from '../billing/session-hold.ts';
import { LEDGER_AWAY } from '../live/voice-endings.ts';
import type { VoiceLife } from '../live/voice-life.ts';

export type RelayMeterDeps = {
  readonly owner: SessionHoldOwner;
  readonly model: Model;
  readonly sessionHold: SessionHold;
  readonly clock: Clock;
  readonly life: Pick<VoiceLife, 'logError'>;
  readonly send: (event: RealtimeRelayEvent) => void;
};

type Done = Extract<MeteredEvent, { kind: 'done' }>;
type Heard = Extract<MeteredEvent, { kind: 'heard' }>;

export type CarriedFrame = {
  readonly bytes: number;
  /** True when the frame carries audio. Set for client frames only. */
  readonly isSound?: boolean;
  /** Approximate number of tokens that the frame adds to the conversation. */
  readonly tokens: number;
  /** Upper bounds of the audio, text and items that an upstream frame adds. Undefined for client frames. */
  readonly spokenTokens?: number;
  readonly writtenTokens?: number;
  readonly itemBytes?: number;
};

/** Meters a relayed session the way its source bills: by tokens or by time. */
export interface RelayMeter {
  /** Called when the relay forwarded a frame of the client (`up`) or of the upstream (`down`). */
  carried(direction: 'up' | 'down', frame: CarriedFrame): void;
  /** Called when a turn began. `underWay` is the number of turns in progress, including the new turn. */
  began(underWay: number): void;
  /**
   * Bills a turn that ended. Returns undefined when nothing is charged. The promise never rejects: it resolves to the journaled
   * amount, or to undefined when the ledger has not journaled it.
   */
  done(turn: Done): Promise<bigint | undefined> | undefined;
  /** Bills a transcript that the upstream made of caller audio. Resolves as `done` does. */
  heard(transcript: Heard): Promise<bigint | undefined> | undefined;
  /** Tops the hold up to the cost of the turns in progress, or of the next turn when none is. */
  makeWhole(underWay: number): void;
  /** Called when the upstream closed. Time is billed up to this call. */
  stopped(): void;
  /** Bills the remaining usage. `unreported` is the number of turns in progress whose usage the upstream will not report. */
  end(unreported: number): void;
}

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
