import { systemClock } from '../../src/kernel/clock.ts';
import { silentLog } from '../../src/kernel/log.ts';
import { createLedger, type LiveLedger } from '../../src/ledger/engine/ledger.ts';
import { createBalanceStore } from '../../src/ledger/store/balances.ts';
import type { Sql } from '../../src/platform/postgres/sql.ts';

export type Spendable = { readonly agentId: number; readonly keyId: number };

/** What every operation of a load is for: caps of tasks and hosts can match it. */
export const LOAD_TASK = 'load';
const LOAD_DESTINATION = { host: 'api.acme.example', payee: null };

export type LoadResult = {
  readonly operations: number;
  readonly seconds: number;
  readonly cpuMicros: number;
  readonly p99Ms: number;
  readonly mostMisses: number;
  readonly fences: number;
};

export const liveLedger = (sql: Sql, nodeId: string): LiveLedger =>
  createLedger({
    store: createBalanceStore({ sql, node: { nodeId, leaseEpoch: 1 } }),
    clock: systemClock,
    log: silentLog,
  });

/** Callers that hold and settle, each one operation at a time, for a while. Any refusal is an error. */
export async function loadLedger(
  ledger: LiveLedger,
  agents: readonly Spendable[],
  options: { readonly callers: number; readonly forMs: number; readonly prefix: string },
): Promise<LoadResult> {
  const { callers, forMs, prefix } = options;
  const latencies: number[] = [];
  const cpu = process.cpuUsage();
  const start = performance.now();
  const timed = async <T>(work: Promise<T>): Promise<T> => {
    const begin = performance.now();
    const result = await work;
    latencies.push(performance.now() - begin);
    return result;
  };
  const caller = async (c: number) => {
    for (let i = 0; performance.now() - start < forMs; i++) {
      const agent = agents[(c * 7 + i) % agents.length];
      if (agent === undefined) throw new Error('no agents');
      const verdict = await timed(
        ledger.hold({
          spender: { ...agent, taskId: LOAD_TASK },
          holdId: `${prefix}-${agent.agentId}-${c}-${i}`,
          amountRaw: 10n,
          destination: LOAD_DESTINATION,
        }),
      );
      if (verdict.kind !== 'held') throw new Error(`refused: ${verdict.refusal.reason}`);
      const { hold } = verdict;
      await timed(ledger.settle({ hold, actualRaw: 0n, account: 'gateway', source: 'bench' }));
    }
  };
  await Promise.all(Array.from({ length: callers }, (_, c) => caller(c)));
  const used = process.cpuUsage(cpu);
  latencies.sort((a, b) => a - b);
  return {
    operations: latencies.length,
    seconds: (performance.now() - start) / 1_000,
    cpuMicros: (used.user + used.system) / Math.max(1, latencies.length),
    p99Ms: latencies[Math.floor(latencies.length * 0.99)] ?? 0,
    mostMisses: ledger.counters.mostMisses,
    fences: ledger.counters.fences,
  };
}

/** Sets a raw unit aside and spends it, so often, a few at once. */
export async function spendUnits(
  ledger: LiveLedger,
  agent: Spendable,
  works: number,
  prefix: string,
  atOnce = 20,
): Promise<void> {
  let next = 0;
  const caller = async () => {
    while (next < works) {
      const verdict = await ledger.hold({
        spender: agent,
        holdId: `${prefix}-${next++}`,
        amountRaw: 1n,
        destination: LOAD_DESTINATION,
      });
      if (verdict.kind !== 'held') throw new Error(`refused: ${verdict.refusal.reason}`);
      const { hold } = verdict;
      await ledger.settle({ hold, actualRaw: 1n, account: 'gateway', source: 'test' });
    }
  };
  await Promise.all(Array.from({ length: atOnce }, caller));
}
