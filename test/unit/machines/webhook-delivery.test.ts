import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type DeliveryEvent,
  type DeliveryStatus,
  planDelivery,
  webhookDeliveryMachine,
} from '../../../machines/webhook-delivery.ts';

const failed = (attempt: number): DeliveryEvent => ({ type: 'attempt.failed', attempt });
const run = (...events: DeliveryEvent[]) =>
  events.reduce(planDelivery, 'pending' as DeliveryStatus);

describe('a webhook delivery', () => {
  it('a webhook delivery is retried twice and has failed after the third attempt', () => {
    expect([
      run(failed(1)),
      run(failed(1), failed(2)),
      run(failed(1), failed(2), failed(3)),
    ]).toEqual(['retrying', 'retrying', 'failed']);
  });

  it('a webhook delivery succeeds at any attempt', () => {
    const succeeded: DeliveryEvent = { type: 'attempt.succeeded' };
    expect([run(succeeded), run(failed(1), failed(2), succeeded)]).toEqual(['success', 'success']);
  });

  it('a webhook delivery fails at once where its endpoint is gone', () => {
    const gone: DeliveryEvent = { type: 'endpoint.gone' };
    expect([run(gone), run(failed(1), gone)]).toEqual(['failed', 'failed']);
  });

  it('a webhook delivery never leaves an end state, and reaches every state', () => {
    const event = fc.oneof(
      fc.constant<DeliveryEvent>({ type: 'attempt.succeeded' }),
      fc.constant<DeliveryEvent>({ type: 'endpoint.gone' }),
      fc.integer({ min: 1, max: 3 }).map(failed),
    );
    const seen = new Set<string>();
    fc.assert(
      fc.property(fc.array(event, { maxLength: 6 }), (events) => {
        let status: DeliveryStatus = 'pending';
        for (const next of events) {
          const before = status;
          status = planDelivery(status, next);
          seen.add(status);
          if (before === 'success' || before === 'failed') expect(status).toBe(before);
        }
      }),
    );
    expect([...seen, 'pending'].sort()).toEqual(Object.keys(webhookDeliveryMachine.states).sort());
  });
});
