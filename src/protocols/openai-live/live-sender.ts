import type { Ending } from '../../../machines/transcription-stream.ts';
import type { EventProblem } from '../openai-realtime/client-event.ts';
import { EventSender } from '../openai-realtime/event-sender.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Reason for the end of a session, as the protocol names it. */
export type CloseReason =
  | 'close_requested'
  | 'expired'
  | 'content'
  | 'remote_hangup'
  | 'connection_lost';

/** Ending of a session whose client requested to close it. */
export const CLOSE_REQUESTED: Ending = { code: 1000, reason: 'close_requested' };
/** Ending of a session that has reached the maximum duration. */
export const EXPIRED: Ending = { code: 1000, reason: 'expired' };

/**
 * Returns the reason in `session.closed`. A session whose budget is spent, or whose client was silent for too long, counts as
 * expired.
 */
export function closeReason(ending: Ending): CloseReason {
  if (ending === CLOSE_REQUESTED) return 'close_requested';
  const { code, error } = ending;
  const isBroken = code === 1011 || code === 1012 || code === 1013;
  return isBroken || (error !== undefined && !isMoney(error.code)) ? 'connection_lost' : 'expired';
}

const isMoney = (code: string): boolean => code === 'budget_exhausted';

/** Sends the events of a live session. Its errors have the shape of the live protocol. */
export class LiveSender extends EventSender {
  /** Sends an event that responds to the client's event `eventId`. */
  answer(type: string, eventId: string | null | undefined, fields: Fields = {}): void {
    this.send(type, { ...idOf(eventId), ...fields });
  }

  /** Sends an error event. `details` are further members of the error. */
  override error(type: string, problem: EventProblem, details: Fields = {}): void {
    const { code, eventId, message, param } = problem;
    const about = idOf(eventId);
    const where = param === undefined || param === null ? {} : { param };
    this.send('error', {
      ...about,
      error: { ...details, type, code, message, ...where, ...about },
    });
  }
}

const idOf = (eventId: string | null | undefined): Fields =>
  eventId === undefined || eventId === null ? {} : { client_event_id: eventId };
