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
  /** Additional effect, which runs before `effects` when the actor broke. */
  readonly stop?: () => void;
};

/** Runs the actor of a live session of any kind. When the actor breaks, the session is still hung up and settled. */
export class SessionActor<Event, Snapshot = unknown> {
  readonly #actor: MachineActor<Event, Snapshot>;
  /** True when the machine has ended or broken. Stored, because creating a snapshot for each frame would cost more. */
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

  /** Sends an event to the actor. Drops the event when the actor has ended. */
  send(event: Event): void {
    if (!this.#isOver) this.#actor.send(event);
  }
}
