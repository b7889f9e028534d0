import type { CallEndReason } from '../../../../machines/call.ts';
import type { Call } from '../../calls/call.ts';
import type { AnsweredBy } from '../../carriers/carrier.ts';
import type { StoredTurn } from '../call-summary.ts';

/** The verdict on a call that is over. */
export type CallAnalysis = {
  readonly success: boolean;
  /** Sentiment of the peer at the end of the call. Null when it was not analyzed. */
  readonly sentiment: string | null;
  readonly structuredData: Readonly<Record<string, unknown>>;
};

/** End reasons of a conversation that ended normally. */
const ORDERLY: ReadonlySet<CallEndReason> = new Set(['call_ended', 'agent_ended', 'call_transfer']);

/** Carrier verdicts for a call that was answered by a machine. */
const NO_PERSON: ReadonlySet<AnsweredBy> = new Set(['machine_start', 'machine_end', 'fax']);

type Ended = Pick<Call, 'direction' | 'durationSeconds' | 'endReason' | 'answeredBy'>;

/**
 * Analyzes a call by fixed rules from its record alone: the same record has the same analysis. A call is a success when no
 * machine answered it, the peer spoke, the agent's answer was heard, and either side ended it or a transfer did. Rules do not
 * detect feelings: `sentiment` is null.
 */
export function analyzeCall(call: Ended, turns: readonly StoredTurn[]): CallAnalysis {
  const { answeredBy = null, direction, durationSeconds, endReason } = call;
  const heardAnswers = answersOf(turns);
  const isPerson = answeredBy === null || !NO_PERSON.has(answeredBy);
  const isOrderly = endReason !== null && ORDERLY.has(endReason);
  const callerTurns = turns.filter(({ role }) => role === 'user').length;
  return {
    success: isPerson && isOrderly && heardAnswers > 0,
    sentiment: null,
    structuredData: {
      method: 'rules',
      direction,
      endReason,
      answeredBy,
      durationSeconds: durationSeconds ?? 0,
      callerTurns,
      agentTurns: turns.length - callerTurns,
      heardAnswers,
      interruptions: turns.filter(({ heard }) => heard !== null).length,
      lastSpeaker: SPEAKERS[turns.at(-1)?.role ?? 'none'],
    },
  };
}

const SPEAKERS = { user: 'caller', assistant: 'agent', none: null } as const;

/** Returns the number of agent turns after the first turn of the caller or callee that were heard, at least in part. */
function answersOf(turns: readonly StoredTurn[]): number {
  const first = turns.findIndex(({ role }) => role === 'user');
  if (first === -1) return 0;
  const after = turns.slice(first + 1);
  return after.filter(({ heard, role }) => role === 'assistant' && heard !== '').length;
}
