import type { VoiceDeps } from '../voice/session/voice-deps.ts';

type Admitted = {
  drain(): void;
  socketClosed(): void;
  /** Where there is more to give up than the client. */
  abandon?(): void;
};

/** Enters a session whose money is held among those of the process, or ends it with the refusal. */
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
