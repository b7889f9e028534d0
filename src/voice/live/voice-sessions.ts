import { requestErrors } from '../../http/route/errors.ts';
import { type Clock, sleep } from '../../kernel/clock.ts';
import { VOICE_LIMITS } from '../limits.ts';

/** The methods of a session that the registry calls. */
interface LiveSession {
  /** Finishes the turn in progress, closes the socket with 1012 and settles. */
  drain(): void;
  /** Ends the session now: makes no further purchases, and settles the charges up to now. */
  abandon(): void;
}

/** The registry of this process's live sessions: limits their number, and drains them. */
export interface VoiceSessions {
  readonly size: number;
  /** Throws the refusal of a session when the process is full or shutting down. Call it before an amount is held. */
  requireRoom(): void;
  /** Registers a session. Throws as `requireRoom` does; the caller then ends the session. */
  enter(sessionId: string, session: LiveSession): void;
  /** Removes a session that is settled. */
  leave(sessionId: string): void;
  /**
   * Lets sessions finish their turns, ends the remaining sessions at the deadline, and resolves when all are settled. No
   * session may enter from now on.
   */
  drain(deadlineMs: number): Promise<void>;
}

/** Milliseconds that settlements may take after the deadline. Then the reaper settles the rest from their journals. */
const SETTLE_MS = 5_000;

export function createVoiceSessions(deps: {
  readonly clock: Clock;
  readonly limit?: number;
}): VoiceSessions {
  const { clock, limit = VOICE_LIMITS.liveSessions } = deps;
  const live = new Map<string, LiveSession>();
  let draining = false;
  let empty = new AbortController();

  async function emptied(withinMs: number): Promise<void> {
    if (live.size === 0) return;
    empty = new AbortController();
    await sleep(clock, withinMs, empty.signal);
  }

  function requireRoom(): void {
    if (draining) throw requestErrors.draining();
    if (live.size >= limit) throw requestErrors.tooManySessions(limit);
  }

  return {
    get size() {
      return live.size;
    },
    requireRoom,
    enter(sessionId, session) {
      requireRoom();
      live.set(sessionId, session);
    },
    leave(sessionId) {
      live.delete(sessionId);
      if (live.size === 0) empty.abort();
    },
    async drain(deadlineMs) {
      draining = true;
      for (const session of [...live.values()]) session.drain();
      await emptied(deadlineMs);
      for (const session of [...live.values()]) session.abandon();
      await emptied(SETTLE_MS);
    },
  };
}
