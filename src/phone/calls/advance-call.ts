import {
  type CallEndReason,
  type CallEvent,
  type CallState,
  planCall,
} from '../../../machines/call.ts';

/** Status of a call, in the terms of the specification. */
export type CallStatus = Exclude<CallState, 'unanswered'>;

/** The columns of the row of a call that its state machine changes. */
export type CallStanding = {
  readonly status: CallStatus;
  /** True when the call can no longer change. */
  readonly terminal: boolean;
  /** Reason of the call's end. Null until it is known. */
  readonly endReason: CallEndReason | null;
};

const ENDS: ReadonlySet<CallState> = new Set(['completed', 'failed', 'unanswered']);

/**
 * Returns the state of a call after an event; undefined when the event changes nothing (late, repeated, or after the end).
 * `startedAt` is when the media stream opened; this function's caller writes it when the call becomes `in_progress`.
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
