import type { CallEndReason } from '../../../machines/call.ts';
import { headOf } from '../../kernel/storable.ts';
import type { Call } from '../calls/call.ts';
import { PHONE_LIMITS } from '../limits.ts';
import type { CallSummary, StoredTurn } from './call-summary.ts';

type Ended = Pick<Call, 'direction' | 'from' | 'to' | 'durationSeconds' | 'endReason'>;

const ENDINGS: Readonly<Record<CallEndReason, string>> = {
  call_ended: 'the other side hung up',
  agent_ended: 'the agent hung up',
  budget_exhausted: 'the budget was used up',
  reserve_exhausted: 'its reserve was used up',
  max_duration: 'it had reached its longest duration',
  llm_refused: 'the brain of the agent refused to go on',
  backstop_settled: 'the process of its media was lost',
  inactivity: 'the other side was silent',
  media_timeout: 'no sound came from the other side any more',
  transcriber_lost: 'what the caller said could not be transcribed any more',
  synthesizer_lost: 'what the agent had to say could not be spoken any more',
  voicemail_reached: 'an answering machine had answered',
  call_transfer: 'it was transferred',
  suspended: 'the agent was suspended',
  drain: 'the server was stopped',
  dial_busy: 'the line was busy',
  dial_no_answer: 'it was not answered',
  dial_canceled: 'it was cancelled',
  dial_failed: 'it could not be placed',
  dial_invalid: 'there is no such number',
  carrier_denied: 'the carrier refused it',
  error: 'something broke',
};

/** Returns a summary of a call in a few sentences, from its record alone: the same record has the same summary. */
export function summaryText(
  call: Ended,
  figures: CallSummary | null,
  turns: readonly StoredTurn[],
): string {
  const { direction, durationSeconds, endReason, from, to } = call;
  const kind = direction === 'inbound' ? 'Inbound' : 'Outbound';
  const because = endReason === null ? '' : ` because ${ENDINGS[endReason]}`;
  const lasted = count(durationSeconds ?? 0, 'second');
  const sentences = [
    `${kind} call from ${from} to ${to}: it lasted ${lasted} and ended${because}.`,
  ];
  if (figures !== null) {
    const { interruptions, turns: spoken } = figures;
    sentences.push(
      `The other side spoke ${count(spoken.user, 'time')}, the agent ${count(spoken.assistant, 'time')}; ` +
        `${count(interruptions, 'answer')} ${interruptions === 1 ? 'was' : 'were'} interrupted.`,
    );
  }
  const first = turns.find(({ role }) => role === 'user');
  const last = turns.findLast(({ role }) => role === 'assistant');
  if (first !== undefined) sentences.push(`The other side began with: "${short(first.content)}"`);
  if (last !== undefined) sentences.push(`The agent ended with: "${short(wordsHeard(last))}"`);
  return sentences.join(' ');
}

/** Returns the turns, one a line, and of an interrupted answer its heard part. Cut after `PHONE_LIMITS.report.textChars`. */
export function transcriptText(turns: readonly StoredTurn[]): string {
  const most = PHONE_LIMITS.report.textChars;
  const text = turns.map(lineOf).join('\n');
  return text.length <= most ? text : `${headOf(text, most)}…`;
}

function lineOf(turn: StoredTurn): string {
  if (turn.role === 'user') return `Caller: ${turn.content}`;
  return turn.heard === null ? `Agent: ${turn.content}` : `Agent: ${turn.heard} [interrupted]`;
}

const wordsHeard = ({ content, heard }: StoredTurn): string => heard ?? content;

const count = (n: number, noun: string): string => `${n} ${noun}${n === 1 ? '' : 's'}`;

const SHORT_CHARS = 200;
const short = (text: string): string =>
  text.length <= SHORT_CHARS ? text : `${headOf(text, SHORT_CHARS)}…`;
