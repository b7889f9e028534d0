import type { MeteredEvent } from './metered-event.ts';

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
