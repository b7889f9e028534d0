import { setup, transition } from 'xstate';

/** Status of a delivery, as in the specification. */
export type DeliveryStatus = 'pending' | 'retrying' | 'success' | 'failed';

export type DeliveryEvent =
  | { readonly type: 'attempt.succeeded' }
  /** `attempt` is the number of attempts, including this attempt. */
  | { readonly type: 'attempt.failed'; readonly attempt: number }
  /** The endpoint answered 410, was switched off or was deleted. No further attempt follows. */
  | { readonly type: 'endpoint.gone' };

/** Largest number of attempts of one delivery. */
export const MOST_ATTEMPTS = 3;

/**
 * Delivery of one event to one endpoint: the first attempt, two more attempts after failures, then it has failed.
 *
 * @internal Tests go through all of its states.
 */
export const webhookDeliveryMachine = setup({
  types: { events: {} as DeliveryEvent },
  guards: {
    last: ({ event }) => event.type === 'attempt.failed' && event.attempt >= MOST_ATTEMPTS,
  },
}).createMachine({
  id: 'webhook-delivery',
  initial: 'pending',
  states: {
    pending: {
      on: {
        'attempt.succeeded': 'success',
        'attempt.failed': [{ guard: 'last', target: 'failed' }, { target: 'retrying' }],
        'endpoint.gone': 'failed',
      },
    },
    retrying: {
      on: {
        'attempt.succeeded': 'success',
        'attempt.failed': [{ guard: 'last', target: 'failed' }, { target: 'retrying' }],
        'endpoint.gone': 'failed',
      },
    },
    success: { type: 'final' },
    failed: { type: 'final' },
  },
});

/** Cache of the machine's few steps, since each attempt needs one. */
const known = new Map<string, DeliveryStatus>();

/** Returns the status of a delivery after an event; after the end of the delivery its status stays. */
export function planDelivery(from: DeliveryStatus, event: DeliveryEvent): DeliveryStatus {
  const isLast = event.type === 'attempt.failed' && event.attempt >= MOST_ATTEMPTS;
  const question = `${from} ${event.type} ${isLast}`;
  const answer = known.get(question) ?? nextOf(from, event);
  known.set(question, answer);
  return answer;
}

function nextOf(from: DeliveryStatus, event: DeliveryEvent): DeliveryStatus {
  const stored = webhookDeliveryMachine.resolveState({ value: from });
  if (stored.status === 'done') return from;
  return transition(webhookDeliveryMachine, stored, event)[0].value as DeliveryStatus;
}
