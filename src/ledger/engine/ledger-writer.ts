import type { Log } from '../../kernel/log.ts';
import type { AgentBatch, AgentBatchOutcome } from '../rules/change.ts';
import type { BalanceStore } from '../store/balances.ts';
import type { LedgerCounters } from './ledger-counters.ts';
import { LEDGER_LIMITS } from './limits.ts';
import type { Retry } from './retry.ts';

/** Balance actor as the writer uses it. */
export interface BatchSource {
  readonly agentId: number;
  /** Decides at most `limit` of the waiting operations, now. Returns undefined when nothing can be sent at the moment. */
  plan(limit: number): AgentBatch | undefined;
  /** Returns true when the next operation must go in a batch of its own. */
  goesAlone(): boolean;
  answered(outcome: AgentBatchOutcome): void;
  /** Called when the database cannot carry the batch out. */
  broke(error: unknown): void;
}

export type LedgerWriter = {
  /** Queues an actor that has waiting operations. Its `plan` is called when a call can be sent. */
  offer(source: BatchSource): void;
  stop(): void;
};

const SPLIT_FROM = 16;

type Riding = { readonly source: BatchSource; readonly part: AgentBatch };

/**
 * Creates the only writer of a process. It sends the waiting operations of all actors as one call, with at most two calls in
 * progress and each agent in at most one of them. Actors decide when the call is sent, so it contains everything that arrived
 * meanwhile. A call whose outcome is unknown is sent again, unchanged, until its outcome is known.
 */
export function createLedgerWriter(deps: {
  readonly store: Pick<BalanceStore, 'apply'>;
  readonly retry: Retry;
  /** Called before a call is sent again, because the process's lease may have expired meanwhile. */
  readonly afterOutage: () => Promise<void>;
  /** Schedules a callback after everything that is ready to run. */
  readonly soon: (callback: () => void) => void;
  readonly counters: LedgerCounters;
  readonly log: Log;
}): LedgerWriter {
  const { store, retry, counters, log } = deps;
  const waiting = new Set<BatchSource>();
  let underWay = 0;
  let scheduled = false;
  let stopped = false;

  function schedule(): void {
    if (scheduled || stopped || waiting.size === 0 || underWay >= LEDGER_LIMITS.calls.inFlight)
      return;
    scheduled = true;
    deps.soon(pump);
  }

  function pump(): void {
    scheduled = false;
    while (!stopped && underWay < LEDGER_LIMITS.calls.inFlight && waiting.size > 0) {
      const batch = gather();
      if (batch.length === 0) return;
      underWay++;
      void send(batch);
    }
  }

  function gather(): Riding[] {
    const batch: Riding[] = [];
    // Two parallel calls keep both this process and the database busy. A few parts do not justify a second call.
    const split = waiting.size >= SPLIT_FROM ? LEDGER_LIMITS.calls.inFlight - underWay : 1;
    const parts = Math.min(LEDGER_LIMITS.batch.parts, Math.ceil(waiting.size / split));
    let operations = 0;
    for (const source of waiting) {
      if (batch.length >= parts) break;
      if (operations >= LEDGER_LIMITS.batch.operations) break;
      const alone = source.goesAlone();
      if (alone && batch.length > 0) continue;
      waiting.delete(source);
      const part = source.plan(LEDGER_LIMITS.batch.operations - operations);
      if (part === undefined) continue;
      operations += part.changes.length;
      batch.push({ source, part });
      if (alone) break;
    }
    counters.operations += operations;
    return batch.sort((a, b) => a.source.agentId - b.source.agentId);
  }

  async function send(batch: readonly Riding[]): Promise<void> {
    const parts = batch.map((riding) => riding.part);
    let resent = false;
    const before = () => {
      resent = true;
      counters.resends++;
      return deps.afterOutage().catch(() => {});
    };
    let outcomes: readonly AgentBatchOutcome[];
    try {
      outcomes = await retry(() => store.apply(parts, resent), { until: () => stopped, before });
    } catch (error) {
      underWay--;
      if (stopped) return;
      log.error({ err: error, parts: parts.length }, 'a batch cannot be carried out');
      for (const { source } of batch) source.broke(error);
      schedule();
      return;
    }
    underWay--;
    counters.batches++;
    batch.forEach(({ source }, i) => {
      const outcome = outcomes[i];
      if (outcome !== undefined) answer(source, outcome);
    });
    schedule();
  }

  /** Passes an outcome to an actor. An actor that throws does not keep other actors from their outcomes. */
  function answer(source: BatchSource, outcome: AgentBatchOutcome): void {
    try {
      source.answered(outcome);
    } catch (err) {
      log.error({ err, agentId: source.agentId }, 'an answer could not be taken');
      source.broke(err);
    }
  }

  return {
    offer(source) {
      waiting.add(source);
      schedule();
    },
    stop() {
      stopped = true;
      waiting.clear();
    },
  };
}
