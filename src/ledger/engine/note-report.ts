import type { Log } from '../../kernel/log.ts';
import type { LedgerCounters } from './ledger-counters.ts';
import type { BatchReport } from './resolve-batch.ts';

type Notebook = {
  readonly agentId: number;
  readonly counters: LedgerCounters;
  readonly log: Pick<Log, 'error'>;
};

/**
 * Counts the outcomes of an agent's batch, and logs shortfalls and conflicts for the operator. Neither refuses an operation.
 */
export function noteReport({ agentId, counters, log }: Notebook, report: BatchReport): void {
  for (const { pending, resolution, shortfallRaw } of report.resolved) {
    const { kind } = pending.operation;
    if (shortfallRaw > 0n) {
      counters.shortfalls++;
      counters.shortfallRaw += shortfallRaw;
      log.error(
        { agentId, kind, shortfallRaw: `${shortfallRaw}` },
        'what was used goes beyond what was held for it',
      );
    }
    // Two processes that take reports of one call give them the same number; the second then takes the next number.
    if (resolution.kind === 'conflict' && kind !== 'report') {
      counters.conflicts++;
      log.error({ agentId, kind }, 'another posting stands under this id');
    }
  }
  for (const { misses } of report.again) {
    counters.mostMisses = Math.max(counters.mostMisses, misses);
  }
}
