import type { Clock } from '../../kernel/clock.ts';
import type { Log } from '../../kernel/log.ts';
import type { Sql } from '../../platform/postgres/sql.ts';
import type { Counter, Metrics } from '../../platform/tracing/metrics.ts';
import { WEBHOOK_LIMITS } from '../limits.ts';
import { attemptDelivery } from './attempt-delivery.ts';
import { dispatchEvents, ensurePositions } from './dispatch-store.ts';
import type { OpenSecrets } from './open-secrets.ts';
import { OutcomeWriter } from './outcome-writer.ts';
import { type ClaimedDelivery, claimDue } from './queue-store.ts';
import type { SendDelivery } from './send-delivery.ts';

export type DeliverDeps = {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Returns the database's time in Unix milliseconds. */
  readonly now: () => number;
  readonly send: SendDelivery;
  readonly openSecrets: OpenSecrets;
};

/** Delivers events to the endpoints that subscribed to them. Several processes may do so at the same time. */
export class EventDelivery {
  readonly #deps: DeliverDeps;
  readonly #outcomes: OutcomeWriter;
  readonly #attempts: Counter;
  /** Number of attempts in progress by endpoint id; `#active` is their sum. */
  readonly #busy = new Map<number, number>();
  #active = 0;
  #claiming: Promise<void> | undefined;
  #isWanted = false;
  #isStopped = false;
  #isSetUp = false;
  #whenIdle = () => {};
  #idle = Promise.resolve();

  constructor(deps: DeliverDeps) {
    const { metrics } = deps;
    this.#deps = deps;
    this.#attempts = metrics.counter('svc_webhook_attempts_total', 'Attempts of webhooks.', [
      'outcome',
    ]);
    metrics.watch(
      'svc_webhook_in_flight',
      'Webhook attempts that are under way.',
      () => this.#active,
    );
    this.#outcomes = new OutcomeWriter({
      ...deps,
      deactivations: metrics.counter(
        'svc_webhook_deactivated_total',
        'Endpoints that the server has switched off.',
      ),
      written: (outcomes) => this.#free(outcomes.map(({ webhookId }) => webhookId)),
    });
  }

  /**
   * Puts new events into the queues and starts the attempts that are due, within the limits. Resolves when the attempts have
   * started.
   */
  async tick(): Promise<void> {
    const { eventsPerDispatch } = WEBHOOK_LIMITS.queue;
    if (!this.#isSetUp) await ensurePositions(this.#deps.sql);
    this.#isSetUp = true;
    for (let isMore = true; isMore && !this.#isStopped; ) {
      const { events } = await dispatchEvents(this.#deps.sql, eventsPerDispatch);
      isMore = events === eventsPerDispatch;
    }
    await this.#claim();
  }

  /** Resolves when no claim and no attempt is in progress in this process. */
  async idle(): Promise<void> {
    while (this.#active > 0 || this.#claiming !== undefined) {
      await this.#claiming;
      await this.#idle;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isStopped = true;
    this.#outcomes.stop();
    await this.#claiming;
    await this.#idle;
  }

  /** Runs one claim at a time. A request during a claim causes one more claim after it. */
  #claim(): Promise<void> {
    this.#isWanted = true;
    this.#claiming ??= this.#claimWhileWanted().finally(() => {
      this.#claiming = undefined;
    });
    return this.#claiming;
  }

  async #claimWhileWanted(): Promise<void> {
    const { now, sql } = this.#deps;
    const { inFlight } = WEBHOOK_LIMITS.queue;
    while (this.#isWanted && !this.#isStopped && this.#active < inFlight) {
      this.#isWanted = false;
      const limit = inFlight - this.#active;
      const claimed = await claimDue(sql, { busy: this.#busy, limit, nowMs: now() });
      for (const delivery of claimed) this.#begin(delivery);
      this.#isWanted ||= claimed.length > 0;
    }
  }

  #begin(delivery: ClaimedDelivery): void {
    const { deliveryId, webhookId } = delivery;
    if (this.#active === 0) {
      this.#idle = new Promise((resolve) => {
        this.#whenIdle = resolve;
      });
    }
    this.#active += 1;
    this.#busy.set(webhookId, (this.#busy.get(webhookId) ?? 0) + 1);
    attemptDelivery(this.#deps, delivery).then(
      (outcome) => {
        this.#attempts.add(1, { outcome: outcome.error === null ? 'success' : 'failure' });
        this.#outcomes.add(outcome);
      },
      (error: unknown) => {
        // A bug of this server, not a failed attempt: the claim expires, and the delivery is attempted again.
        this.#deps.log.error({ err: error, deliveryId }, 'a webhook attempt broke');
        this.#free([webhookId]);
      },
    );
  }

  /** Releases the places of finished attempts, and claims further deliveries unless the delivery is stopped. */
  #free(webhookIds: readonly number[]): void {
    for (const id of webhookIds) {
      const left = (this.#busy.get(id) ?? 1) - 1;
      if (left > 0) this.#busy.set(id, left);
      else this.#busy.delete(id);
    }
    this.#active -= webhookIds.length;
    if (this.#active === 0) this.#whenIdle();
    if (this.#isStopped) return;
    this.#claim().catch((error: unknown) =>
      this.#deps.log.error({ err: error }, 'webhooks could not be claimed'),
    );
  }
}
