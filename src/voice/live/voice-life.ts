import type { Ending } from '../../../machines/transcription-stream.ts';
import type { SessionHold, SessionHoldOwner } from '../billing/session-hold.ts';
import type { SessionTally } from './session-tally.ts';
import type { VoiceDeps } from './voice-deps.ts';

export type VoiceLifeOptions = {
  readonly owner: SessionHoldOwner;
  readonly sessionHold: Pick<SessionHold, 'settle'>;
  readonly tally: Pick<SessionTally, 'close'>;
};

/** Ends a live session of any kind: settles it once, then removes it from the registry. */
export class VoiceLife {
  /** Resolves when the session is settled, or left to the process that took it over. */
  readonly settled: Promise<void>;
  readonly #deps: Pick<VoiceDeps, 'sessions' | 'log'>;
  readonly #sessionId: string;
  readonly #sessionHold: VoiceLifeOptions['sessionHold'];
  readonly #tally: VoiceLifeOptions['tally'];
  #settledNow = () => {};

  constructor(
    deps: Pick<VoiceDeps, 'sessions' | 'log'>,
    { owner, sessionHold, tally }: VoiceLifeOptions,
  ) {
    this.#deps = deps;
    this.#sessionId = owner.sessionId;
    this.#sessionHold = sessionHold;
    this.#tally = tally;
    this.settled = new Promise((resolve) => {
      this.#settledNow = resolve;
    });
  }

  settle({ code, reason }: Ending): void {
    const leave = () => this.leave();
    const status = code === 1011 ? 'failed' : 'success';
    const summary = () => this.#tally.close();
    this.#sessionHold.settle({ reason, status, summary }).then(leave, leave);
  }

  leave(): void {
    this.#deps.sessions.leave(this.#sessionId);
    this.#settledNow();
  }

  /** The actor broke: runs each step that is still owed to client and ledger, whatever the others do. */
  broke(error: unknown, owed: readonly (() => void)[]): void {
    this.logError(error, 'the actor of a voice session broke');
    for (const step of owed) {
      try {
        step();
      } catch (failed) {
        this.logError(failed, 'a broken voice session could not be ended in order');
      }
    }
  }

  logError(error: unknown, message: string): void {
    this.#deps.log.error({ err: error, sessionId: this.#sessionId }, message);
  }
}
