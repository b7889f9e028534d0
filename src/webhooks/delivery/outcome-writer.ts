import { type Clock, sleep, type TimerHandle } from '../../kernel/clock.ts';
import type { Log } from '../../kernel/log.ts';
import type { Sql } from '../../platform/postgres/sql.ts';
import type { Counter } from '../../platform/tracing/metrics.ts';
import { WEBHOOK_LIMITS } from '../limits.ts';
import { webhookDeactivated } from '../webhook-event.ts';
import { type AttemptOutcome, recordOutcomes } from './queue-store.ts';

/** Wait before the process writes outcomes again that the database did not take. */
const WRITE_AGAIN_MS = 1_000;

export type OutcomeWriterDeps = {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly log: Log;
  readonly now: () => number;
  readonly deactivations: Counter;
  /** Called with the outcomes that the database has stored. Their places are free then. */
  readonly written: (outcomes: readonly AttemptOutcome[]) => void;
};

/**
 * Writes outcomes of attempts in batches: at once when many wait, else after a short wait. Outcomes that the database did not
 * take are kept and written again. The limit of concurrent attempts bounds their number.
 */
export class OutcomeWriter {
  readonly #deps: OutcomeWriterDeps;
  #waiting: AttemptOutcome[] = [];
  #timer: TimerHandle | undefined;
  #isWriting = false;
  #isStopped = false;

  constructor(deps: OutcomeWriterDeps) {
    this.#deps = deps;
  }

  add(outcome: AttemptOutcome): void {
    this.#waiting.push(outcome);
    const { outcomesPerWrite, outcomeWaitMs } = WEBHOOK_LIMITS.queue;
    if (this.#waiting.length >= outcomesPerWrite) this.#write();
    else this.#timer ??= this.#deps.clock.setTimeout(() => this.#write(), outcomeWaitMs);
  }

  /**
   * Stops retrying. From now on an outcome that the database does not take is dropped; its claim expires, and the delivery is
   * sent again.
   */
  stop(): void {
    this.#isStopped = true;
  }

  #write(): void {
    if (this.#timer !== undefined) this.#deps.clock.clearTimeout(this.#timer);
    this.#timer = undefined;
    if (!this.#isWriting) void this.#writeAll();
  }

  /** Writes the queued outcomes in batches, and repeats a batch that failed. Never rejects. */
  async #writeAll(): Promise<void> {
    this.#isWriting = true;
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.slice(0, WEBHOOK_LIMITS.queue.outcomesPerWrite);
      if (await this.#record(batch)) {
        this.#waiting = this.#waiting.slice(batch.length);
        this.#deps.written(batch);
      } else if (this.#isStopped) {
        this.#deps.written(this.#waiting.splice(0));
      } else {
        await sleep(this.#deps.clock, WRITE_AGAIN_MS);
      }
    }
    this.#isWriting = false;
  }

  async #record(batch: readonly AttemptOutcome[]): Promise<boolean> {
    const { deactivations, log, now, sql } = this.#deps;
    try {
      const off = await recordOutcomes(sql, batch, now(), webhookDeactivated);
      for (const { id, reason } of off) {
        deactivations.add(1);
        log.warn({ webhookId: id, reason }, 'a webhook is switched off');
      }
      return true;
    } catch (error) {
      log.error({ err: error }, 'outcomes of webhooks could not be written');
      return false;
    }
  }
}
