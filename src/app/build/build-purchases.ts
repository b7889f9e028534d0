import type { Teardown } from '../../kernel/teardown.ts';
import type { BudgetReports } from '../../spend/awareness/budget-left.ts';
import type { AccountParts } from './build-accounts.ts';
import type { ChainParts } from './build-chain.ts';
import { buildGateway, buildLocalSound } from './build-gateway.ts';
import type { LedgerParts } from './build-ledger.ts';
import { buildMarketplace } from './build-marketplace.ts';
import { buildPayments, openClient } from './build-payments.ts';
import type { VoiceParts } from './build-voice.ts';
import type { World } from './world.ts';

type PurchaseParts = {
  readonly accounts: AccountParts;
  readonly chain: ChainParts;
  readonly budgets: BudgetReports;
  readonly voice: VoiceParts;
};

/** All that agents buy by the request: of vendors, of the marketplace of this server, and of models. */
export function buildPurchases(
  world: World,
  parts: LedgerParts,
  { accounts, chain, budgets, voice }: PurchaseParts,
  teardown: Teardown,
) {
  const { ledger } = parts;
  const { providerKeys } = accounts.services;
  const locals = buildLocalSound(voice);
  const client = openClient(world, teardown);
  const shop = { ledger, budgets, client, rails: locals, memory: undefined };
  const { directSales, listensAt, marketplace } = buildMarketplace(world, shop);
  const paying = { accounts, chain, budgets, client, marketplace };
  const { paidCalls, services: paid } = buildPayments(world, parts, paying, teardown);
  const selling = { ledger, voice, budgets, locals, paidCalls, providerKeys };
  const gateway = buildGateway(world, selling, teardown);
  return {
    gateway,
    /** The server listens, at this port. */
    listensAt,
    services: { ...gateway.services, ...paid, directSales },
  };
}
