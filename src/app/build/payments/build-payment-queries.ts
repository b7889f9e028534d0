import { createFunding } from '../../../accounts/management/funding.ts';
import type { Ledger } from '../../../ledger/rules/ledger.ts';
import type { Marketplace } from '../../../payments/proxy/marketplace.ts';
import type { PassthroughLog } from '../../../payments/proxy/passthrough-log.ts';
import { createPrices } from '../../../payments/quotes/prices.ts';
import type { ReleaseDeps } from '../../../payments/reconcile/release-by-chain.ts';
import { createPayments } from '../../../payments/reservations/payments.ts';
import type { GuardedClient } from '../../../platform/egress/guarded-client.ts';
import type { SpendStateReader } from '../../../spend/limits/spend-state.ts';
import type { ChainParts } from '../build-chain.ts';
import type { World } from '../world.ts';

type Parts = Pick<ReleaseDeps, 'judge' | 'ledger' | 'eventsOf' | 'onEnd' | 'onAlarm'> & {
  readonly ledger: Pick<Ledger, 'settled'>;
  readonly client: GuardedClient;
  readonly passthroughs: PassthroughLog;
  readonly marketplace: Marketplace;
  readonly spendState: SpendStateReader;
  readonly chain: Pick<ChainParts, 'breaker'>;
};

/** Builds the answers to questions before and after a payment: prices, payments and funding. */
export function buildPaymentQueries(world: World, parts: Parts) {
  const { usdc, chainId } = world.settings.chain;
  const { publicUrl, host, port } = world.settings;
  return {
    prices: createPrices({ ...world, ...parts, terms: { usdc, chainId } }),
    payments: createPayments({ ...world, ...parts }),
    funding: createFunding({
      sql: world.sql,
      spendState: parts.spendState,
      breaker: parts.chain.breaker,
      tokenContract: usdc,
      dashboardUrl: publicUrl ?? `http://${host}:${port}`,
    }),
  };
}
