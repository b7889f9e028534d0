import { startWorkers } from '../../kernel/schedule.ts';
import type { Teardown } from '../../kernel/teardown.ts';
import type { Spender } from '../../ledger/rules/requests.ts';
import { findHold } from '../../ledger/store/orphan-store.ts';
import { createDirectSales } from '../../marketplace/direct-sales.ts';
import { createDocumentJobs } from '../../marketplace/documents/document-jobs.ts';
import { createVendorFiles } from '../../marketplace/documents/vendor-files.ts';
import { createFileFetch, fileCallerOf } from '../../marketplace/fetch-file.ts';
import { createSoundFetch } from '../../marketplace/fetch-sound.ts';
import { createMarketAddress } from '../../marketplace/market-address.ts';
import { createMarketSlots } from '../../marketplace/market-slots.ts';
import { createMarketplace } from '../../marketplace/marketplace.ts';
import { openAccounts } from '../../marketplace/open-accounts.ts';
import { createSaleHealth } from '../../marketplace/sale-health.ts';
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
import { createVendorSales } from '../../marketplace/vendor-sales.ts';
import { createLocalVendor, type LocalRails } from '../../marketplace/vendors/local.ts';
import { REMOTE_VENDORS } from '../../marketplace/vendors/vendors.ts';
import type { Memory } from '../../memory/memory.ts';
import type { PassthroughLog } from '../../payments/proxy/passthrough-log.ts';
import { insertPassthroughs } from '../../payments/proxy/passthrough-store.ts';
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
  /** Sends requests to addresses that callers choose. */
  readonly client: GuardedClient;
  readonly rails: LocalRails;
  readonly memory: Memory | undefined;
};

/** Builds the marketplace: vendors that this server has accounts with, its own engines, and memory. */
export function buildMarketplace(
  world: World,
  { budgets, client, ledger, memory, passthroughs, rails, spendState }: MarketplaceParts,
  teardown: Teardown,
) {
  const { clock, secret, settings, sql } = world;
  const { marketplaceUrl, port, tls } = settings;
  // With port 0 the system chooses the port, which `listensAt` reports.
  let listening = world.port ?? port;
  const address = createMarketAddress(
    () => marketplaceUrl ?? `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${listening}`,
  );
  const accounts = openAccounts(REMOTE_VENDORS, secret);
  const fetchFile = createFileFetch({ client, clock });
  const selling = {
    ...world,
    ledger,
    accounts,
    rooms: createMarketSlots(),
    vendors: [createLocalVendor(rails), ...REMOTE_VENDORS],
    tripwires: createTripwires({ ...world, claim: (of) => claimTripwire(sql, of) }),
    fileCallerOf: (spender: Spender) => fileCallerOf(spendState, spender),
    findOwner: (agentId: number) => findOwner(sql, agentId),
  };
  const saleHealth = createSaleHealth({ clock, note: (sales) => noteSales(sql, sales) });
  const shim = createVendorSales({
    ...selling,
    budgets,
    fetchSound: createSoundFetch(fetchFile),
    saleHealth,
  });
  const documents = createDocumentJobs({
    ...selling,
    address,
    fetchFile,
    files: createVendorFiles({ client, clock, fileMs: world.vendorMs }),
    findHold: (holdId) => findHold(sql, holdId),
    note: insertPassthroughs,
  });
  teardown.use('document jobs', documents);
  const vendorHealths = createVendorHealths({
    ...selling,
    address,
    claim: (vendors) => claimProbe(sql, vendors),
    save: (probed, event) => saveProbe(sql, probed, event),
    find: () => findHealth(sql),
    findSales: () => findSales(sql),
    probes: settings.marketplaceProbes,
  });
  const workers = [
    saleHealth.worker,
    documents.worker,
    ...(vendorHealths.worker ? [vendorHealths.worker] : []),
  ];
  teardown.use('marketplace workers', startWorkers(world, workers));
  return {
    vendorHealths,
    marketplace: createMarketplace({ address, shim, documents, memory, clock }),
    directSales: createDirectSales({
      ...world,
      address,
      shim,
      documents,
      spendState,
      ledger,
      passthroughs,
    }),
    /** Notes the port at which this server listens. */
    listensAt(port: number) {
      listening = port;
    },
  };
}
