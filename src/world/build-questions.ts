import { createFunding } from '../agents/funding.ts';
import type { StandingsReader } from '../controls/standings.ts';
import type { GuardedClient } from '../egress/guarded-client.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { PassthroughLog } from '../proxy/passthrough-log.ts';
import { createPayments } from '../proxy/payments.ts';
import { createPrices } from '../proxy/prices.ts';
import type { ReleaseDeps } from '../proxy/release-by-chain.ts';
import type { ChainParts } from './build-chain.ts';
import type { World } from './world.ts';

type Parts = Pick<ReleaseDeps, 'judge' | 'ledger' | 'eventsOf' | 'onEnd' | 'onAlarm'> & {
  readonly ledger: Pick<Ledger, 'settled'>;
  readonly client: GuardedClient;
  readonly passthroughs: PassthroughLog;
  readonly standings: StandingsReader;
  readonly chain: Pick<ChainParts, 'breaker'>;
};

/** What may be asked before a payment, and after it. */
export function buildQuestions(world: World, parts: Parts) {
  const { usdc, chainId } = world.settings.chain;
  const { publicUrl, host, port } = world.settings;
  return {
    prices: createPrices({ ...world, ...parts, terms: { usdc, chainId } }),
    payments: createPayments({ ...world, ...parts }),
    funding: createFunding({
      ...{ sql: world.sql, standings: parts.standings, breaker: parts.chain.breaker },
      tokenContract: usdc,
      dashboardUrl: publicUrl ?? `http://${host}:${port}`,
    }),
  };
}
