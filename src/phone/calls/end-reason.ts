import { CALL_END_REASONS, type SessionEndReason } from '../../../machines/call.ts';
import { DRAINING } from '../../../machines/draining.ts';

/** Ending of a session whose call was never opened. */
export const NOT_OPENED = 'not_opened';

const OF_ENDINGS: ReadonlyMap<string, SessionEndReason> = new Map([
  ['client left', 'call_ended'],
  ['agent_suspended', 'suspended'],
  ['agent_closed', 'suspended'],
  ['key_revoked', 'suspended'],
  ['idle', 'inactivity'],
  [DRAINING.reason, 'drain'],
]);

/**
 * Returns true for an end reason that an answered call's own session sets, unlike the reasons of the carrier and of the
 * sweeper.
 */
export const isOfSession = (reason: string): reason is SessionEndReason =>
  !/^(dial_|backstop_|carrier_)/.test(reason) && CALL_END_REASONS.some((known) => known === reason);

/** Returns the end reason of a call for the ending of its voice session. */
export function reasonOf(ending: string, isReserveSpent: boolean): SessionEndReason {
  if (ending === 'budget_exhausted' && isReserveSpent) return 'reserve_exhausted';
  return isOfSession(ending) ? ending : (OF_ENDINGS.get(ending) ?? 'error');
}
