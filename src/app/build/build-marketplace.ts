import { startWorkers } from '../../kernel/schedule.ts';
import type { Teardown } from '../../kernel/teardown.ts';
import { createDirectSales } from '../../marketplace/direct-sales.ts';
import { createSoundFetch } from '../../marketplace/fetch-sound.ts';
import { createMarketAddress } from '../../marketplace/market-address.ts';
import { createMarketplace, type MarketMemory } from '../../marketplace/marketplace.ts';
import { openAccounts } from '../../marketplace/open-accounts.ts';
import { createSaleHealth } from '../../marketplace/sale-health.ts';
import { createShim } from '../../marketplace/shim.ts';
import { claimTripwire } from '../../marketplace/tripwires/tripwire-store.ts';
import { createTripwires } from '../../marketplace/tripwires/tripwires.ts';
import { createVendorHealths } from '../../marketplace/vendor-health.ts';
import {
  claimProbe,
  findHealth,
  findSales,
  noteSales,
  saveProbe,
} from '../../marketplace/vendor-health-store.ts';
import { createLocalVendor, type LocalRails } from '../../marketplace/vendors/local.ts';
import { REMOTE_VENDORS } from '../../marketplace/vendors/vendors.ts';
import { admitHost, viewAgent } from '../../payments/proxy/admit-call.ts';
import type { PassthroughLog } from '../../payments/proxy/passthrough-log.ts';
import { findOwner } from '../../payments/reservations/reservation-store.ts';
import type { GuardedClient } from '../../platform/egress/guarded-client.ts';
import type { BudgetReports } from '../../spend/awareness/budget-left.ts';
import type { SpendStateReader } from '../../spend/limits/spend-state.ts';
import type { LedgerParts } from './build-ledger.ts';
import type { World } from './world.ts';

export type MarketplaceParts = Pick<LedgerParts, 'ledger'> & {
  readonly budgets: BudgetReports;
  readonly spendState: SpendStateReader;
  readonly passthroughs: PassthroughLog;
  /** The door to addresses that callers choose. */
  readonly client: GuardedClient;
  readonly rails: LocalRails;
  readonly memory: MarketMemory | undefined;
};

/** What this server sells beside models: vendors that it has accounts with, its own engines, and memory. */
export function buildMarketplace(
  world: World,
  { budgets, client, ledger, memory, passthroughs, rails, spendState }: MarketplaceParts,
  teardown: Teardown,
) {
  const { clock, secret, settings, sql } = world;
  const { marketplaceUrl, port, tls } = settings;
  // The system may choose another port, which is known when the server listens.
  let listening = world.port ?? port;
  const address = createMarketAddress(
    () => marketplaceUrl ?? `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${listening}`,
  );
  const accounts = openAccounts(REMOTE_VENDORS, secret);
  const selling = { ...world, vendors: [createLocalVendor(rails), ...REMOTE_VENDORS], accounts };
  const tripwires = createTripwires({ ...world, claim: (of) => claimTripwire(sql, of) });
  const saleHealth = createSaleHealth({ clock, note: (sales) => noteSales(sql, sales) });
  const shim = createShim({
    ...selling,
    ledger,
    budgets,
    fetchSound: createSoundFetch({ client, clock }),
    saleHealth,
    admitHost: (agentId, host) => admitHost(viewAgent(spendState, agentId), host),
    findOwner: (agentId) => findOwner(sql, agentId),
    tripwires,
  });
  const vendorHealths = createVendorHealths({
    ...selling,
    address,
    claim: (vendors) => claimProbe(sql, vendors),
    save: (probed, event) => saveProbe(sql, probed, event),
    find: () => findHealth(sql),
    findSales: () => findSales(sql),
    probes: settings.marketplaceProbes,
  });
  const workers = [saleHealth.worker, ...(vendorHealths.worker ? [vendorHealths.worker] : [])];
  teardown.use('marketplace workers', startWorkers(world, workers));
  return {
    vendorHealths,
    marketplace: createMarketplace({ address, shim, memory, clock }),
    directSales: createDirectSales({ ...world, address, shim, spendState, passthroughs }),
    /** The server listens, at this port. */
    listensAt(port: number) {
      listening = port;
    },
  };
}
