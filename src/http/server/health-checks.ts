import { type Clock, isoTime, within } from '../../kernel/clock.ts';
import { HTTP_LIMITS } from '../limits.ts';

/** Probe of one part. Resolves when the part works, and rejects with a sentence when it does not. */
export type HealthProbe = () => Promise<unknown>;

export type CheckResult = {
  readonly status: 'ok' | 'degraded' | 'down' | 'skipped';
  readonly latency_ms?: number;
  readonly reason?: string;
};

export type HealthReport = {
  readonly status: 'ok' | 'degraded';
  readonly checks: {
    readonly db: CheckResult;
    readonly managed_wallet: CheckResult;
    readonly indexer: CheckResult;
  };
  readonly timestamp: string;
};

export interface HealthChecks {
  /**
   * Returns the results of all probes, within a bounded time and at most a second old: a flood of calls must not become a flood
   * of queries.
   */
  report(): Promise<HealthReport>;
}

/** Builds the health checks. A part without a probe is not configured on this server and reads `skipped`. */
export function createHealthChecks(
  clock: Clock,
  probes: {
    readonly db: HealthProbe;
    readonly managedWallet: HealthProbe | undefined;
    readonly indexer: HealthProbe | undefined;
  },
): HealthChecks {
  let latest: { readonly atMs: number; readonly report: Promise<HealthReport> } | undefined;

  const take = async (): Promise<HealthReport> => {
    const [db, managedWallet, indexer] = await Promise.all([
      check(clock, probes.db, 'down'),
      check(clock, probes.managedWallet, 'degraded'),
      check(clock, probes.indexer, 'degraded'),
    ]);
    const well = [db, managedWallet, indexer].every(
      ({ status }) => status === 'ok' || status === 'skipped',
    );
    return {
      status: well ? 'ok' : 'degraded',
      checks: { db, managed_wallet: managedWallet, indexer },
      timestamp: isoTime(clock.now()),
    };
  };

  return {
    report() {
      const nowMs = clock.monotonicMs();
      if (latest === undefined || nowMs - latest.atMs >= HTTP_LIMITS.health.cacheMs) {
        latest = { atMs: nowMs, report: take() };
      }
      return latest.report;
    },
  };
}

async function check(
  clock: Clock,
  probe: HealthProbe | undefined,
  onFailure: 'down' | 'degraded',
): Promise<CheckResult> {
  if (probe === undefined) return { status: 'skipped', reason: 'not configured' };
  const startedMs = clock.monotonicMs();
  try {
    const outcome = await within(clock, HTTP_LIMITS.health.probeMs, probe(), () => 'late' as const);
    if (outcome === 'late') return { status: onFailure, reason: 'no answer in time' };
    return { status: 'ok', latency_ms: Math.round(clock.monotonicMs() - startedMs) };
  } catch {
    // The probe's error text may hold addresses and names that callers must not see.
    return { status: onFailure, reason: 'unreachable' };
  }
}
