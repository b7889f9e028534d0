import { type Clock, isoTime } from '../../kernel/clock.ts';
import type { Breaker } from '../../platform/chain/breaker.ts';
import { HTTP_LIMITS } from '../limits.ts';
import type { CheckResult, HealthChecks } from './health-checks.ts';

export type PartStatus = 'operational' | 'degraded' | 'down';

export type PublicStatus = {
  readonly timestamp: string;
  readonly overall: PartStatus;
  readonly indexer: {
    readonly status: PartStatus;
    readonly lastUpdateTimestamp: number | null;
    readonly lagSeconds: number | null;
  };
  readonly oracle: {
    readonly status: PartStatus;
    readonly circuitBreaker: {
      readonly isActive: boolean;
      readonly reason: number;
      readonly reasonText: string;
    };
    readonly prices: readonly {
      readonly symbol: string;
      readonly priceUsd: string;
      readonly isStale: boolean;
    }[];
  };
  readonly markets: readonly never[];
  readonly activity: {
    readonly matchesLast24h: number;
    readonly totalMatches: number;
    readonly avgTimeToMatchSeconds: number | null;
  };
};

export interface StatusBoard {
  /** Returns the status of this server for its users, remembered for half a minute. */
  read(): Promise<PublicStatus>;
}

/**
 * Builds the public status. An indexer that is not configured is shown as down, since nothing is indexed, but does not count
 * for the whole: this server never queries it.
 */
export function createStatusBoard(deps: {
  readonly clock: Clock;
  readonly breaker: Pick<Breaker, 'check' | 'price'>;
  readonly health: HealthChecks;
}): StatusBoard {
  const { clock, breaker, health } = deps;
  let latest: { readonly atMs: number; readonly status: Promise<PublicStatus> } | undefined;

  const take = async (): Promise<PublicStatus> => {
    const { status, checks } = await health.report();
    const verdict = breaker.check();
    const price = breaker.price();
    const well = status === 'ok' && verdict.kind === 'clear';
    return {
      timestamp: isoTime(clock.now()),
      overall: checks.db.status === 'down' ? 'down' : well ? 'operational' : 'degraded',
      indexer: { status: partStatus(checks.indexer), lastUpdateTimestamp: null, lagSeconds: null },
      oracle: {
        status: ORACLE[verdict.kind],
        // No payment is made while the chain cannot be read: clients see this as an active breaker.
        circuitBreaker: {
          isActive: verdict.kind !== 'clear',
          reason: verdict.reason,
          reasonText: verdict.reasonText,
        },
        prices: price === undefined ? [] : [{ symbol: 'WETH', ...price }],
      },
      markets: [],
      activity: { matchesLast24h: 0, totalMatches: 0, avgTimeToMatchSeconds: null },
    };
  };

  return {
    read() {
      const nowMs = clock.monotonicMs();
      if (latest === undefined || nowMs - latest.atMs >= HTTP_LIMITS.health.statusMs) {
        latest = { atMs: nowMs, status: take() };
      }
      return latest.status;
    },
  };
}

const ORACLE = { clear: 'operational', active: 'degraded', stale: 'down' } as const;

function partStatus({ status }: CheckResult): PartStatus {
  if (status === 'ok') return 'operational';
  return status === 'degraded' ? 'degraded' : 'down';
}
