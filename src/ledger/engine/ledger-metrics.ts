import type { Metrics } from '../../platform/tracing/metrics.ts';
import type { LedgerCounters } from './ledger-counters.ts';

const COUNTED: readonly (readonly [keyof LedgerCounters, string, string])[] = [
  ['operations', 'svc_ledger_operations', 'Operations that this process has decided.'],
  ['batches', 'svc_ledger_batches', 'Calls that carried them to the database.'],
  ['misses', 'svc_ledger_misses', 'Parts that the write of another process made stale.'],
  ['mostMisses', 'svc_ledger_most_misses', 'The most misses that one operation has met.'],
  ['fences', 'svc_ledger_fences', 'Rows taken for a short sql transaction after misses.'],
  ['resends', 'svc_ledger_resends', 'Calls sent again because their outcome was unknown.'],
  ['conflicts', 'svc_ledger_conflicts', 'Ids under which another posting stands.'],
  [
    'shortfalls',
    'svc_ledger_shortfalls',
    'Settlements beyond their hold, and corrections beyond funds.',
  ],
  [
    'shortfallRaw',
    'svc_ledger_shortfall_raw',
    'What was used beyond it and charged to none, in raw USDC.',
  ],
  ['refusedFull', 'svc_ledger_refused_full', 'Operations refused because too many waited.'],
  ['gaveUp', 'svc_ledger_gave_up', 'Callers that got the error that the database is away.'],
  ['failed', 'svc_ledger_failed', 'Operations that the database cannot carry out.'],
];

/** Registers the ledger's figures with the metrics. Called once per process. */
export function watchLedger(
  metrics: Metrics,
  ledger: {
    readonly counters: LedgerCounters;
    load(): { readonly waiting: number; readonly actors: number };
  },
): void {
  for (const [counter, name, help] of COUNTED) {
    metrics.watch(name, help, () => Number(ledger.counters[counter]));
  }
  metrics.watch('svc_ledger_waiting', 'Operations that wait.', () => ledger.load().waiting);
  metrics.watch('svc_ledger_actors', 'Balance actors in memory.', () => ledger.load().actors);
}
