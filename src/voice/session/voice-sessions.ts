import { type Clock, sleep } from '../../kernel/clock.ts';
import { errors } from '../../kernel/errors.ts';
import { LIMITS } from '../../kernel/limits.ts';

/** A session as the registry sees it. */
interface LiveSession {
  /** Finish what is under way, tell the client 1012 and settle. */
  drain(): void;
  /** End now: nothing more is bought, what was bought is settled. */
  abandon(): void;
}

/** The live sessions of this process: how many there may be, and how they all end. */
export interface VoiceSessions {
  readonly size: number;
  /** Refuses what could not enter: the process is full or shutting down. To be asked before money is held. */
  requireRoom(): void;
  /** Refuses as `requireRoom` does; the session is then the caller's to end. */
  enter(sessionId: string, session: LiveSession): void;
  /** The session is settled. */
  leave(sessionId: string): void;
  /**
   * Lets every session finish what it is doing, ends at the deadline whichever has not, and resolves
   * when all are settled. No session enters from here on.
   */
  drain(deadlineMs: number): Promise<void>;
}

/** After the deadline: how long settlements may take before the journals are left to the reaper. */
const SETTLE_MS = 5_000;

export function createVoiceSessions(deps: {
  readonly clock: Clock;
  readonly limit?: number;
}): VoiceSessions {
  const { clock, limit = LIMITS.liveSessions } = deps;
  const live = new Map<string, LiveSession>();
  let draining = false;
  let empty = new AbortController();

  async function emptied(withinMs: number): Promise<void> {
    if (live.size === 0) return;
    empty = new AbortController();
    await sleep(clock, withinMs, empty.signal);
  }

  function requireRoom(): void {
    if (draining) throw errors.request.draining();
    if (live.size >= limit) throw errors.request.tooManySessions(limit);
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
