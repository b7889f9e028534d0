import type { Ending } from '../../../machines/transcription-stream.ts';
import { BROKEN } from './voice-endings.ts';
import type { VoiceLife } from './voice-life.ts';

/** Methods of an XState actor that are used here. */
interface MachineActor<Event, Snapshot> {
  subscribe(observer: {
    readonly complete: () => void;
    readonly error: (error: unknown) => void;
  }): unknown;
  start(): unknown;
  getSnapshot(): Snapshot;
  send(event: Event): void;
}

type SessionActorDeps = {
  readonly life: Pick<VoiceLife, 'broke'>;
  /** Effects that run however the session ends: the client's connection closes, the ledger settles the hold. */
  readonly effects: {
    readonly hangUp: (ending: Ending) => void;
    readonly settle: (ending: Ending) => void;
  };
  /** Runs before these where the actor broke. */
  readonly stop?: () => void;
};

/** Runs the actor of a live session of any kind. If the actor breaks, the session is hung up and settled all the same. */
export class SessionActor<Event, Snapshot = unknown> {
  readonly #actor: MachineActor<Event, Snapshot>;
  /** Kept here, since reading a snapshot for each frame costs more. */
  #isOver = false;

  constructor(actor: MachineActor<Event, Snapshot>, { effects, life, stop }: SessionActorDeps) {
    this.#actor = actor;
    const owed = [() => effects.hangUp(BROKEN), () => effects.settle(BROKEN)];
    actor.subscribe({
      complete: () => {
        this.#isOver = true;
      },
      error: (error) => {
        this.#isOver = true;
        life.broke(error, stop === undefined ? owed : [stop, ...owed]);
      },
    });
  }

  /** Enters the first state of the machine, whose effects may use all parts of the session. */
  start(): void {
    this.#actor.start();
  }

  /** True when the machine has ended or broken. */
  get isOver(): boolean {
    return this.#isOver;
  }

  get snapshot(): Snapshot {
    return this.#actor.getSnapshot();
  }

  /** Drops the event where the actor has ended: it takes none. */
  send(event: Event): void {
    if (!this.#isOver) this.#actor.send(event);
  }
}
