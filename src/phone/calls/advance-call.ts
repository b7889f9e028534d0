import {
  type CallEndReason,
  type CallEvent,
  type CallState,
  planCall,
} from '../../../machines/call.ts';

/** The words of the specification. */
export type CallStatus = Exclude<CallState, 'unanswered'>;

/** Where a call stands, as its row has it. */
export type CallStanding = {
  readonly status: CallStatus;
  /** It can no longer change. */
  readonly terminal: boolean;
  /** Null while it is not known. */
  readonly endReason: CallEndReason | null;
};

const ENDS: ReadonlySet<CallState> = new Set(['completed', 'failed', 'unanswered']);

/**
 * Where an event takes a call; undefined where it changes nothing: it comes late, twice, or after the end. `startedAt` is
 * when the media stream opened; the caller sets it in the row whose call becomes `in_progress`.
 */
export function advanceCall(
  row: CallStanding & { readonly startedAt: Date | null },
  event: CallEvent,
): CallStanding | undefined {
  if (row.terminal) return undefined;
  const stored = {
    state: row.status,
    isAnswered: row.startedAt !== null,
    endReason: row.endReason,
  };
  const next = planCall(stored, event);
  if (next === undefined) return undefined;
  return {
    status: next.state === 'unanswered' ? 'pending' : next.state,
    terminal: ENDS.has(next.state),
    endReason: next.endReason,
  };
}
