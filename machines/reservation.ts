import { setup, transition } from 'xstate';

/** State of a reservation, as in the specification. Clients see `released` as `expired_unsettled`. */
export type ReservationState =
  | 'reserved'
  | 'sent'
  | 'pending_settlement'
  | 'settled'
  | 'expired_unsettled'
  | 'payment_rejected'
  | 'released';

export type ReservationEvent =
  /** The payment header is being sent. From now on the vendor may have the signed payment. */
  | { readonly type: 'request.sent' }
  /** The request failed after the payment header was sent, or the process that sent it died. */
  | { readonly type: 'request.broken' }
  /** No byte of the payment has left this process, and none will. */
  | { readonly type: 'request.unsent' }
  /** The vendor has answered. The answer does not prove whether the payment moves. */
  | { readonly type: 'response.arrived' }
  /** A canonical block contains `AuthorizationUsed` for this payment. */
  | { readonly type: 'authorization.used' }
  /** The authorization is unused in a canonical block at or after `validBefore`, or it was cancelled on chain. */
  | { readonly type: 'authorization.void'; readonly refused: boolean };

/** Effect on the hold. The ledger carries it out in the commit that saves the state. */
export type ReservationEffect = 'consume' | 'release';

/** Placeholder for an effect, which the ledger carries out. */
const effect = () => {};

/**
 * Life of one signed payment, from its hold until the chain decides.
 *
 * @internal Tests go through all of its states.
 */
export const reservationMachine = setup({
  types: { events: {} as ReservationEvent },
  actions: { consume: effect, release: effect },
  guards: {
    refused: ({ event }) => event.type === 'authorization.void' && event.refused,
  },
}).createMachine({
  id: 'reservation',
  initial: 'reserved',
  states: {
    reserved: {
      on: {
        'request.sent': 'sent',
        'request.broken': 'pending_settlement',
        'request.unsent': 'released',
        'response.arrived': 'pending_settlement',
        'authorization.used': 'settled',
        'authorization.void': [
          { guard: 'refused', target: 'payment_rejected' },
          { target: 'expired_unsettled' },
        ],
      },
    },
    sent: {
      on: {
        'request.broken': 'pending_settlement',
        'request.unsent': 'released',
        'response.arrived': 'pending_settlement',
        'authorization.used': 'settled',
        'authorization.void': [
          { guard: 'refused', target: 'payment_rejected' },
          { target: 'expired_unsettled' },
        ],
      },
    },
    pending_settlement: {
      on: {
        'authorization.used': 'settled',
        'authorization.void': [
          { guard: 'refused', target: 'payment_rejected' },
          { target: 'expired_unsettled' },
        ],
      },
    },
    settled: { type: 'final', entry: 'consume' },
    expired_unsettled: { type: 'final', entry: 'release' },
    payment_rejected: { type: 'final', entry: 'release' },
    released: { type: 'final', entry: 'release' },
  },
});

export type ReservationStep = {
  readonly to: ReservationState;
  /** Undefined when the hold stays open. */
  readonly effect: ReservationEffect | undefined;
};

/** Cache of the machine's few steps, since a payment needs one at each of its events. */
const known = new Map<string, ReservationStep | undefined>();

/** Returns the step that an event causes; undefined when the event has no effect, as after the final state. */
export function planReservation(
  from: ReservationState,
  event: ReservationEvent,
): ReservationStep | undefined {
  const question = `${from} ${event.type} ${'refused' in event && event.refused}`;
  if (!known.has(question)) known.set(question, stepOf(from, event));
  return known.get(question);
}

function stepOf(from: ReservationState, event: ReservationEvent): ReservationStep | undefined {
  const stored = reservationMachine.resolveState({ value: from });
  if (stored.status === 'done') return undefined;
  const [next, effects] = transition(reservationMachine, stored, event);
  const to = next.value as ReservationState;
  if (to === from) return undefined;
  const [first] = effects;
  return { to, effect: first?.type as ReservationEffect | undefined };
}

/** Returns true for a state in which the chain has not decided yet. */
export const isLive = (state: ReservationState): boolean =>
  state === 'reserved' || state === 'sent' || state === 'pending_settlement';
