import type { RealtimeRelayEvent } from '../../../machines/realtime-relay.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Model } from '../../models/catalogue/catalogue.ts';
import type { MeteredEvent } from '../../models/providers/realtime/metered-event.ts';
import type { SessionHold, SessionHoldOwner } from '../billing/session-hold.ts';
import { LEDGER_AWAY } from '../session/voice-endings.ts';
import type { VoiceLife } from '../session/voice-life.ts';

export type RelayMeterDeps = {
  readonly owner: SessionHoldOwner;
  readonly model: Model;
  readonly sessionHold: SessionHold;
  readonly clock: Clock;
  readonly life: Pick<VoiceLife, 'logError'>;
  readonly tell: (event: RealtimeRelayEvent) => void;
};

type Done = Extract<MeteredEvent, { kind: 'done' }>;
type Heard = Extract<MeteredEvent, { kind: 'heard' }>;

export type CarriedFrame = {
  readonly bytes: number;
  /** Of the client's frames alone. */
  readonly isSound?: boolean;
  /** About how many tokens it adds to the conversation. */
  readonly tokens: number;
};

/** What a relayed session has bought, in the way that its source bills it. */
export interface RelayMeter {
  /** A frame was carried from the client (`up`) or from the upstream (`down`). */
  carried(direction: 'up' | 'down', frame: CarriedFrame): void;
  /** A turn has begun, so that there are so many under way. */
  began(underWay: number): void;
  /** A turn is over. Resolves, and never rejects, when its price can no longer be lost. Undefined: it had none. */
  done(turn: Done): Promise<void> | undefined;
  /** Resolves as `done` does. */
  heard(transcript: Heard): Promise<void> | undefined;
  /** Holds what the next turn may cost, or all that are under way. */
  makeWhole(underWay: number): void;
  /** The upstream is gone: what there is to bill is what was until now. */
  stopped(): void;
  /** Bills what is left. `unheardOf`: how many turns were bought whose usage the upstream will not report. */
  end(unheardOf: number): void;
}

/** Writes what was bought, and tells the session when its money is another's or cannot be reached. */
export async function journalBought(
  { sessionHold, life, tell }: Pick<RelayMeterDeps, 'sessionHold' | 'life' | 'tell'>,
  costRaw: bigint,
  usage: Readonly<Record<string, number>>,
): Promise<void> {
  try {
    if ((await sessionHold.journal(costRaw, usage)) === 'lost') tell({ type: 'claim.lost' });
  } catch (error) {
    life.logError(error, 'ledger is away from a relayed session');
    tell({ type: 'session.failed', ending: LEDGER_AWAY });
  }
}
