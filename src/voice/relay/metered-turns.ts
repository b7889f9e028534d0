import type { Clock } from '../../kernel/clock.ts';
import type { MeteredEvent } from '../../models/providers/realtime/metered-event.ts';
import type { SessionTally } from '../live/session-tally.ts';
import { OpenTurns } from './open-turns.ts';
import type { RelayMeter } from './relay-meter.ts';

type MeteredTurnsDeps = {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly meter: RelayMeter;
  readonly tally: Pick<SessionTally, 'interrupted' | 'stage' | 'turnEnded'>;
  /** The session is hung up: it holds nothing for further turns. */
  readonly isOver: () => boolean;
  /** More turns are in progress than a session may have. */
  readonly tooMany: () => void;
  /** Runs work that no caller waits for, and fails the session where it throws. */
  readonly guard: (work: () => void) => void;
};

const cancelOf = (response_id?: string): Uint8Array =>
  Buffer.from(JSON.stringify({ type: 'response.cancel', response_id }));

/** The turns of a relayed session and what they cost: each is billed once, when the upstream reports its end. */
export class MeteredTurns {
  readonly #deps: MeteredTurnsDeps;
  readonly #open = new OpenTurns();

  constructor(deps: MeteredTurnsDeps) {
    this.#deps = deps;
  }

  /** How many are in progress. */
  get size(): number {
    return this.#open.size;
  }

  /** Resolves when the turn that this event ends is journaled; undefined where it ends none. */
  take(event: MeteredEvent): Promise<void> | undefined {
    const { isOver, meter, tooMany } = this.#deps;
    switch (event.kind) {
      case 'began':
        if (!this.#open.begin(event.id)) tooMany();
        else if (!isOver()) meter.began(this.#open.size);
        return undefined;
      case 'done':
        return this.#open.end(event.id) ? this.#done(event) : undefined;
      case 'heard':
        if (event.id === null || this.#open.end(event.id)) this.#heard(event);
        return undefined;
    }
  }

  /** Holds the cost of the next turn, or of all in progress. */
  makeWhole(): void {
    const { isOver, meter } = this.#deps;
    if (!isOver()) meter.makeWhole(this.#open.size);
  }

  /** The events that cancel all in progress, by id: without one, an upstream cancels only the response of the conversation. */
  *cancellations(): Iterable<Uint8Array> {
    for (const id of this.#open.ids) yield cancelOf(id);
    if (this.#open.hasNameless) yield cancelOf();
  }

  #done(turn: Extract<MeteredEvent, { kind: 'done' }>): Promise<void> | undefined {
    const { clock, meter, tally } = this.#deps;
    if (turn.isCancelled) tally.interrupted();
    tally.turnEnded();
    const startedAtMs = clock.monotonicMs();
    return meter.done(turn)?.then(() => tally.stage('journal', clock.monotonicMs() - startedAtMs));
  }

  /** A transcript is paid from the hold of the next turn, which is then topped up. */
  #heard(event: Extract<MeteredEvent, { kind: 'heard' }>): void {
    const billed = this.#deps.meter.heard(event);
    void billed?.then(() => this.#deps.guard(() => this.makeWhole()));
  }
}
