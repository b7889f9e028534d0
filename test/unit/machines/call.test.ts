import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  CALL_END_REASONS,
  type CallEvent,
  callMachine,
  planCall,
  type StoredCall,
} from '../../../machines/call.ts';

const NEW: StoredCall = { state: 'pending', isAnswered: false, endReason: null };
const ENDS = ['completed', 'failed', 'unanswered'];

const run = (...events: CallEvent[]): StoredCall =>
  events.reduce((call, event) => planCall(call, event) ?? call, NEW);
const endOf = (...events: CallEvent[]): string => {
  const { endReason, state } = run(...events);
  return `${state} ${endReason}`;
};

const dialled: CallEvent = { type: 'call.dialled' };
const rang: CallEvent = { type: 'call.rang' };
const opened: CallEvent = { type: 'media.opened' };
const hangup: CallEvent = { type: 'hangup.requested' };
const denied: CallEvent = { type: 'carrier.refused' };
const swept: CallEvent = { type: 'call.swept' };
const transferred: CallEvent = { type: 'transfer.answered' };
const session = (reason: Extract<CallEvent, { type: 'session.ended' }>['reason']): CallEvent => ({
  type: 'session.ended',
  reason,
});
const gone = (status: Extract<CallEvent, { type: 'carrier.ended' }>['status']): CallEvent => ({
  type: 'carrier.ended',
  status,
});

const EVENTS: readonly CallEvent[] = [
  dialled,
  rang,
  opened,
  hangup,
  denied,
  swept,
  transferred,
  session('call_ended'),
  session('llm_refused'),
  session('reserve_exhausted'),
  gone('completed'),
  gone('busy'),
  gone('no-answer'),
  gone('canceled'),
  gone('failed'),
  { type: 'answer.refused', reason: 'budget_exhausted' },
];

describe('a call', () => {
  it.each<[string, CallEvent[], string]>([
    ['queued and ringing', [dialled, rang], 'pending null'],
    ['answered', [dialled, rang, opened], 'in_progress null'],
    ['transferred', [opened, transferred], 'ending call_transfer'],
    [
      'transferred, and settled',
      [opened, transferred, session('call_ended')],
      'completed call_transfer',
    ],
    ['asked to end', [opened, hangup], 'ending agent_ended'],
    ['asked to end, and over', [opened, hangup, session('call_ended')], 'completed agent_ended'],
    ['hung up by the far side', [opened, session('call_ended')], 'completed call_ended'],
    [
      'hung up by the far side, as the carrier says first',
      [opened, gone('completed'), session('call_ended')],
      'completed call_ended',
    ],
    ['ended by its responder', [opened, session('agent_ended')], 'completed agent_ended'],
    ['out of money', [opened, session('reserve_exhausted')], 'completed reserve_exhausted'],
    ['too long', [opened, session('max_duration')], 'completed max_duration'],
    ['without an answer of its backend', [opened, session('llm_refused')], 'completed llm_refused'],
    ['whose process died', [opened, gone('completed'), swept], 'completed backstop_settled'],
    ['whose process died, found later', [opened, swept], 'completed backstop_settled'],
    [
      'whose process died after it was asked to end',
      [opened, hangup, gone('completed'), swept],
      'completed backstop_settled',
    ],
    ['that is busy', [dialled, gone('busy')], 'unanswered dial_busy'],
    ['that rings in vain', [rang, gone('no-answer')], 'unanswered dial_no_answer'],
    ['cancelled before its answer', [rang, gone('canceled')], 'unanswered dial_canceled'],
    ['picked up without a sound', [rang, gone('completed')], 'unanswered call_ended'],
    ['asked to end before its answer', [rang, hangup, gone('canceled')], 'unanswered agent_ended'],
    ['asked to end, and not dialled', [hangup, denied], 'unanswered agent_ended'],
    ['asked to end, and unknown to the carrier', [hangup, swept], 'unanswered agent_ended'],
    ['that the carrier does not take', [denied], 'failed carrier_denied'],
    ['to a number that does not exist', [dialled, gone('invalid')], 'failed dial_invalid'],
    ['that fails while dialling', [dialled, gone('failed')], 'failed dial_failed'],
    [
      'refused at its answer',
      [rang, { type: 'answer.refused', reason: 'budget_exhausted' }, gone('completed')],
      'failed budget_exhausted',
    ],
    ['unknown to the carrier', [dialled, swept], 'failed error'],
  ])('a call %s ends as contract B 3.12 says', (_, events, end) => {
    expect(endOf(...events)).toBe(end);
  });

  it('a call does not become active when its pick-up arrives after a request to end it', () => {
    expect(endOf(rang, hangup, opened)).toBe('ending agent_ended');
    expect(endOf(rang, hangup, opened, gone('completed'))).toBe('unanswered agent_ended');
  });

  it('a call ends at most once, with one reason, in every order of events', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...EVENTS), { maxLength: 10 }), (events) => {
        let call = NEW;
        for (const event of events) {
          const next = planCall(call, event);
          if (ENDS.includes(call.state)) expect(next).toBeUndefined();
          // A doubled event changes nothing.
          if (next !== undefined && !ENDS.includes(next.state)) {
            expect(planCall(next, event) ?? next).toEqual(next);
          }
          if (call.endReason !== null && next !== undefined) {
            expect([call.endReason, 'backstop_settled']).toContain(next.endReason);
          }
          call = next ?? call;
          if (ENDS.includes(call.state)) expect(CALL_END_REASONS).toContain(call.endReason);
        }
      }),
    );
  });

  it('a call reaches each of its states, and from each of them an end', () => {
    const key = ({ endReason, isAnswered, state }: StoredCall) =>
      `${state} ${isAnswered} ${endReason}`;
    const reached = new Map([[key(NEW), NEW]]);
    const doesEnd = new Map<string, boolean>();
    for (const call of reached.values()) {
      const next = EVENTS.flatMap((event) => planCall(call, event) ?? []);
      for (const one of next) if (!reached.has(key(one))) reached.set(key(one), one);
      doesEnd.set(
        key(call),
        ENDS.includes(call.state) || next.some(({ state }) => ENDS.includes(state)),
      );
    }
    const states = new Set([...reached.values()].map(({ state }) => state));
    expect([...states].sort()).toEqual(Object.keys(callMachine.states).sort());
    expect([...doesEnd].filter(([, does]) => !does)).toEqual([]);
  });
});
