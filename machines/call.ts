import { assign, setup, transition } from 'xstate';

/** State of a call. Clients see a call in state `unanswered` as `pending` (contract B 3.12). */
export type CallState =
  | 'pending'
  | 'in_progress'
  | 'ending'
  | 'completed'
  | 'failed'
  | 'unanswered';

/** Reasons for the end of a call. Each call has exactly one reason. */
export const CALL_END_REASONS = [
  'call_ended',
  'agent_ended',
  'budget_exhausted',
  'reserve_exhausted',
  'max_duration',
  'llm_refused',
  'backstop_settled',
  'inactivity',
  'media_timeout',
  'transcriber_lost',
  'synthesizer_lost',
  'voicemail_reached',
  'call_transfer',
  'suspended',
  'drain',
  'dial_busy',
  'dial_no_answer',
  'dial_canceled',
  'dial_failed',
  'dial_invalid',
  'carrier_denied',
  'error',
] as const;
export type CallEndReason = (typeof CALL_END_REASONS)[number];

/** Reasons for the end of an answered call's conversation. */
export type SessionEndReason = Exclude<
  CallEndReason,
  'backstop_settled' | 'carrier_denied' | `dial_${string}`
>;

export type CallEvent =
  /** The carrier has accepted the call. */
  | { readonly type: 'call.dialled' }
  | { readonly type: 'call.rang' }
  /** The media stream is open. Billing begins. */
  | { readonly type: 'media.opened' }
  /** The agent requested the end of the call. */
  | { readonly type: 'hangup.requested' }
  /** The person to whom the call was transferred has answered. The call is settled once the carrier has ended its leg. */
  | { readonly type: 'transfer.answered' }
  /** The conversation is over and its cost is settled. */
  | { readonly type: 'session.ended'; readonly reason: SessionEndReason }
  /** The carrier reports that the call is over, with its last status. */
  | {
      readonly type: 'carrier.ended';
      readonly status: 'completed' | 'busy' | 'no-answer' | 'canceled' | 'failed' | 'invalid';
    }
  /** The carrier refused to place the call. */
  | { readonly type: 'carrier.refused' }
  /** The callee answered, but the call was not let through; for example, the budget is smaller than the reserve. */
  | { readonly type: 'answer.refused'; readonly reason: SessionEndReason }
  /** No process runs the call's conversation, the carrier has no such call, and its known cost is settled. */
  | { readonly type: 'call.swept' };

type Ended<Type extends CallEvent['type']> = Extract<CallEvent, { readonly type: Type }>;

type CallContext = {
  readonly isAnswered: boolean;
  /** The first reason that was given for the end. */
  readonly endReason: CallEndReason | null;
};

const DIAL_REASONS: Readonly<Record<Ended<'carrier.ended'>['status'], CallEndReason>> = {
  // The callee picked up and hung up before any audio.
  completed: 'call_ended',
  busy: 'dial_busy',
  'no-answer': 'dial_no_answer',
  canceled: 'dial_canceled',
  failed: 'dial_failed',
  // There is no such number.
  invalid: 'dial_invalid',
};

/** Returns the end reason of an event; null for an event that ends no call. */
function reasonOf(event: CallEvent): CallEndReason | null {
  switch (event.type) {
    case 'hangup.requested':
      return 'agent_ended';
    case 'transfer.answered':
      return 'call_transfer';
    case 'session.ended':
    case 'answer.refused':
      return event.reason;
    case 'carrier.ended':
      return DIAL_REASONS[event.status];
    case 'carrier.refused':
      return 'carrier_denied';
    case 'call.swept':
      return 'error';
    default:
      return null;
  }
}

/**
 * One call, from its row until its final state.
 *
 * @internal Tests go through all of its states.
 */
export const callMachine = setup({
  types: { context: {} as CallContext, events: {} as CallEvent },
  guards: {
    answered: ({ context }) => context.isAnswered,
    failed: ({ event }) =>
      event.type === 'carrier.ended' && (event.status === 'failed' || event.status === 'invalid'),
  },
  actions: {
    answer: assign({ isAnswered: true }),
    /** Sets the end reason, unless an earlier event has set it. */
    give: assign({ endReason: ({ context, event }) => context.endReason ?? reasonOf(event) }),
    /** The receipt lacks the conversation's data, so this reason replaces any earlier reason. */
    backstop: assign({ endReason: 'backstop_settled' as const }),
  },
}).createMachine({
  id: 'call',
  context: { isAnswered: false, endReason: null },
  initial: 'pending',
  states: {
    pending: {
      on: {
        'call.dialled': {},
        'call.rang': {},
        'media.opened': { target: 'in_progress', actions: 'answer' },
        'hangup.requested': { target: 'ending', actions: 'give' },
        'session.ended': { target: 'failed', actions: 'give' },
        'carrier.ended': [
          { guard: 'failed', target: 'failed', actions: 'give' },
          { target: 'unanswered', actions: 'give' },
        ],
        'carrier.refused': { target: 'failed', actions: 'give' },
        'answer.refused': { target: 'failed', actions: 'give' },
        'call.swept': { target: 'failed', actions: 'give' },
      },
    },
    in_progress: {
      on: {
        'hangup.requested': { target: 'ending', actions: 'give' },
        'transfer.answered': { target: 'ending', actions: 'give' },
        'session.ended': { target: 'completed', actions: 'give' },
        // The next event gives the reason: the conversation's end, or a sweep.
        'carrier.ended': 'ending',
        'call.swept': { target: 'completed', actions: 'backstop' },
      },
    },
    ending: {
      on: {
        'session.ended': { guard: 'answered', target: 'completed', actions: 'give' },
        'carrier.ended': [
          { guard: 'answered', target: 'ending' },
          { target: 'unanswered', actions: 'give' },
        ],
        'carrier.refused': [
          { guard: 'answered', target: 'ending' },
          { target: 'unanswered', actions: 'give' },
        ],
        'answer.refused': [
          { guard: 'answered', target: 'ending' },
          { target: 'unanswered', actions: 'give' },
        ],
        'call.swept': [
          { guard: 'answered', target: 'completed', actions: 'backstop' },
          { target: 'unanswered', actions: 'give' },
        ],
      },
    },
    completed: { type: 'final' },
    failed: { type: 'final' },
    unanswered: { type: 'final' },
  },
});

export type StoredCall = CallContext & { readonly state: CallState };

/** Returns the call after an event; undefined when the event changes nothing, as after the end. */
export function planCall(
  { endReason, isAnswered, state }: StoredCall,
  event: CallEvent,
): StoredCall | undefined {
  const stored = callMachine.resolveState({ value: state, context: { endReason, isAnswered } });
  if (stored.status === 'done') return undefined;
  const [next] = transition(callMachine, stored, event);
  const to = next.value as CallState;
  if (to === state && next.context.endReason === endReason) return undefined;
  return { ...next.context, state: to };
}
