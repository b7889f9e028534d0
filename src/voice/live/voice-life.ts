import type { Ending } from '../../../machines/transcription-stream.ts';
import type { SessionSummary } from '../../ledger/rules/session-summary.ts';
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
  readonly #deps: Pick<VoiceDeps, 'sessions' | 'log' | 'trace'>;
  readonly #sessionId: string;
  readonly #sessionHold: VoiceLifeOptions['sessionHold'];
  readonly #tally: VoiceLifeOptions['tally'];
  #settledNow = () => {};

  constructor(
    deps: Pick<VoiceDeps, 'sessions' | 'log' | 'trace'>,
    { owner, sessionHold, tally }: VoiceLifeOptions,
  ) {
    this.#deps = deps;
    this.#sessionId = owner.sessionId;
    this.#sessionHold = sessionHold;
    this.#tally = tally;
    deps.trace?.began(owner);
    this.settled = new Promise((resolve) => {
      this.#settledNow = resolve;
    });
  }

  settle({ code, reason }: Ending): void {
    const { trace } = this.#deps;
    const status = code === 1011 ? 'failed' : 'success';
    let closed: SessionSummary | undefined;
    const summary = () => {
      closed = this.#tally.close();
      return closed;
    };
    const leave = () => {
      trace?.ended(reason, status === 'failed', closed);
      this.leave();
    };
    const charged = trace && ((raw: bigint) => trace.charged(raw));
    this.#sessionHold.settle({ reason, status, summary, charged }).then(leave, leave);
  }

  leave(): void {
    // Has an effect only when another process has taken the session over; a session settled here has already ended its span.
    this.#deps.trace?.ended('taken_over', false, undefined);
    this.#deps.sessions.leave(this.#sessionId);
    this.#settledNow();
  }

  /** Ends a session whose actor broke: runs every remaining step towards client and ledger, even when another step throws. */
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
