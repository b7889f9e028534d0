import { setup, transition } from 'xstate';

/**
 * Status of a number: the specification's words, plus `buying` and `failed` for a purchase that is in progress or has failed.
 */
export type NumberStatus = 'buying' | 'active' | 'grace' | 'released' | 'failed';

export type NumberEvent =
  /** The carrier has sold the number, and the first month is paid. */
  | { readonly type: 'purchase.settled' }
  /** The carrier has not sold the number. The hold for the first month is released. */
  | { readonly type: 'purchase.failed' }
  | { readonly type: 'rental.paid' }
  /** The balance or a cap does not cover the month that has begun. */
  | { readonly type: 'rental.refused' }
  | { readonly type: 'grace.ended' }
  /** The developer released the number, or its agent was closed. */
  | { readonly type: 'release.requested' };

/**
 * One number that an agent rents, from its purchase to the day on which it is returned to the carrier.
 *
 * @internal Tests go through all of its states.
 */
export const phoneNumberMachine = setup({
  types: { events: {} as NumberEvent },
}).createMachine({
  id: 'phone-number',
  initial: 'buying',
  states: {
    buying: {
      on: { 'purchase.settled': 'active', 'purchase.failed': 'failed' },
    },
    active: {
      on: {
        'rental.paid': 'active',
        'rental.refused': 'grace',
        'release.requested': 'released',
      },
    },
    grace: {
      on: {
        'rental.paid': 'active',
        'grace.ended': 'released',
        'release.requested': 'released',
      },
    },
    released: { type: 'final' },
    failed: { type: 'final' },
  },
});

/** Returns the status of a number after an event; undefined when the event has no effect, as after the end. */
export function planNumber(
  from: NumberStatus,
  type: NumberEvent['type'],
): NumberStatus | undefined {
  const stored = phoneNumberMachine.resolveState({ value: from });
  if (stored.status === 'done' || !stored.can({ type })) return undefined;
  return transition(phoneNumberMachine, stored, { type })[0].value as NumberStatus;
}
