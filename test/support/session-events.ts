import type { VoiceSessionEvent } from '../../machines/voice-session.ts';

const ending = { code: 1008, reason: 'budget_exhausted' };

/** One of each event that the machine of a voice session takes. */
export const SESSION_EVENTS: readonly VoiceSessionEvent[] = [
  { type: 'response.requested' },
  { type: 'speech.heard' },
  { type: 'bill.due' },
  { type: 'turn.finished' },
  { type: 'turn.billed' },
  { type: 'budget.spent', ending },
  { type: 'drain.requested' },
  { type: 'session.failed', ending: { code: 1011, reason: 'broken' } },
  { type: 'socket.closed' },
  { type: 'claim.lost' },
];
