import type { VoiceDeps } from '../voice/live/voice-deps.ts';

type Admitted = {
  drain(): void;
  socketClosed(): void;
  /** Absent when `socketClosed` ends everything. */
  abandon?(): void;
};

/** Registers a session whose amount is held. When the registry refuses the session, ends it and throws. */
export function admitSession<T extends Admitted>(
  { sessions }: Pick<VoiceDeps, 'sessions'>,
  sessionId: string,
  session: T,
): T {
  try {
    sessions.enter(sessionId, {
      drain: () => session.drain(),
      abandon: () => (session.abandon ? session.abandon() : session.socketClosed()),
    });
    return session;
  } catch (refusal) {
    session.socketClosed();
    throw refusal;
  }
}
