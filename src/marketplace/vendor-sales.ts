import { requestErrors } from '../http/route/errors.ts';
import { IDEMPOTENCY_LIMITS } from '../idempotency/limits.ts';
import { ApiError } from '../kernel/api-error.ts';
import type { Ledger } from '../ledger/rules/ledger.ts';
import { VendorFailed } from '../models/providers/vendors/vendor-api.ts';
import type { MarketAnswer, MarketPrice, OnOver } from '../payments/proxy/marketplace.ts';
import type { FetchRequest } from '../platform/egress/fetch.ts';
import { refuseVendor } from './answer-failure.ts';
import { deliveryBody } from './delivery-body.ts';
import { marketplaceErrors, OwnRefusal } from './errors.ts';
import type { FileCallerOf } from './fetch-file.ts';
import type { FetchSound } from './fetch-sound.ts';
import { MARKETPLACE_LIMITS } from './limits.ts';
import { type CallResources, type MarketSlots, withShare } from './market-slots.ts';
import type { OpenAccount } from './open-accounts.ts';
import { listPriceRaw } from './prices/price.ts';
import { priceOrder } from './prices/price-order.ts';
import { NO_FILE, readBody, requireShort } from './read-order.ts';
import type { ServiceName } from './requests.ts';
import type { SaleHealth } from './sale-health.ts';
import { type Goods, type Sale, type SellDeps, type Sold, sell } from './sell.ts';
import {
  type AgentVendorClient,
  type Delivery,
  planOf,
  type Service,
  type Vendor,
  type VendorOrder,
} from './vendor.ts';
import { openVendorClient, type VendorClientDeps } from './vendor-client.ts';

export type VendorSalesDeps = SellDeps &
  VendorClientDeps & {
    readonly ledger: Pick<Ledger, 'funds'>;
    readonly vendors: readonly Vendor[];
    readonly accounts: ReadonlyMap<string, OpenAccount>;
    readonly rooms: MarketSlots;
    readonly fetchSound: FetchSound;
    readonly saleHealth: Pick<SaleHealth, 'watch'>;
    readonly fileCallerOf: FileCallerOf;
  };

/** A request for a vendor's service. */
export type SaleRequest = Sale & {
  /** Id of the account that the agent belongs to. */
  readonly accountId: string;
  readonly service: ServiceName;
  readonly vendor: string;
  /** Body as it came, read as JSON. */
  readonly body: unknown;
  /**
   * Registers a callback for the end of the request, after its answer was sent or abandoned. Absent: the answer counts as sent
   * at once.
   */
  readonly onOver?: OnOver | undefined;
};

type ServedCall = SaleRequest & CallResources;

export interface VendorSales {
  /**
   * Orders from a vendor with the account of this server, and returns the delivery or the vendor's refusal. Throws OwnRefusal
   * when the request is wrong or something is missing on this server, and the refusals of spend controls. A call that throws
   * costs nothing.
   */
  serve(call: SaleRequest): Promise<MarketAnswer & Pick<Sold, 'advisory'>>;
  /** Returns the list price of a call. Throws OwnRefusal when the call is invalid or its vendor is unknown here. */
  priceOf(call: Pick<SaleRequest, 'service' | 'vendor' | 'body'>): MarketPrice;
}

/** Creates the sales of all vendors: every order is planned, priced, held, fetched and settled in the same way. */
export function createVendorSales(deps: VendorSalesDeps): VendorSales {
  const { shareOf, withFile, withSale } = deps.rooms;

  async function finish(call: ServedCall, vendor: Vendor, goods: Goods) {
    const { bytesInFlight, bytes: saleBytes } = MARKETPLACE_LIMITS.sale;
    call.share.reserve(saleBytes);
    let body: Buffer = Buffer.alloc(0);
    const ask = async () => {
      const delivery = await goods.ask();
      // Bytes of a vendor on the network were counted while they came; bytes of a local engine are counted now.
      if (vendor.account === undefined) call.share.use(soundBytes(delivery) * bytesInFlight.answer);
      body = await deliveryBody(delivery, goods.usage);
      // The client has left, and the answer is too long to be kept for a retry with the same key. The answer is lost, so the
      // agent is not charged.
      const isLost = call.workId !== undefined && call.client.aborted;
      if (isLost && body.length > IDEMPOTENCY_LIMITS.answerBytes) {
        throw requestErrors.clientClosed();
      }
      return delivery;
    };
    const sold = await withSale(vendor.name, guestOf(call), () =>
      sell(deps, call, { ...goods, ask }),
    );
    const { advisory, chargedRaw, upstreamMs } = sold;
    const headers = { 'content-type': 'application/json' };
    const payment = 'internal' as const;
    return { status: 200, headers, body, costRaw: chargedRaw, payment, upstreamMs, advisory };
  }

  async function buy(call: ServedCall) {
    const { service, vendor } = findService(deps, call);
    const asked = readBody(call.service, call.body);
    try {
      if (!('audioUrl' in asked)) {
        return await finish(call, vendor, planned(deps, call, vendor, service, asked));
      }
      const { audioUrl, ...order } = asked;
      // Checks everything that does not need the file before the file is fetched.
      await requireFunds(
        deps,
        call,
        planned(deps, call, vendor, service, { ...order, file: NO_FILE }),
      );
      return await withFile('files', guestOf(call), async () => {
        const { signal, spender } = call;
        const caller = { ...deps.fileCallerOf(spender), signal, share: call.share };
        const file = await fetched(() => deps.fetchSound(audioUrl, caller));
        const goods = planned(deps, call, vendor, service, { ...order, file });
        return finish(call, vendor, goods);
      });
    } catch (error) {
      if (error instanceof VendorFailed && call.signal.aborted) throw requestErrors.clientClosed();
      return refuseVendor(deps, vendor.name, error);
    }
  }

  return {
    serve: (call) =>
      withShare(shareOf(call.accountId), call, (served) => buy({ ...call, ...served })),
    priceOf: (call) => priceOrder(findService(deps, call).service, call),
  };
}

/**
 * Throws the refusal of an agent that could not pay `priceRaw`, the price of the shortest file: no file is fetched for such an
 * agent. The refusal states `heldRaw`, the amount that would be held, when it is more.
 */
export async function requireFunds(
  { ledger }: { readonly ledger: Pick<Ledger, 'funds'> },
  { refusalOfHold, spender }: Pick<Sale, 'refusalOfHold' | 'spender'>,
  { heldRaw, priceRaw }: Pick<Goods, 'priceRaw'> & { readonly heldRaw?: bigint },
) {
  const funds = priceRaw === 0n ? undefined : await ledger.funds(spender.agentId);
  if (funds === undefined || funds.spendableRaw >= priceRaw) return;
  const { spendableRaw: availableRaw } = funds;
  throw refusalOfHold({
    reason: 'insufficient_balance',
    availableRaw,
    requiredRaw: heldRaw ?? priceRaw,
  });
}

const soundBytes = (delivery: Delivery) => ('audio' in delivery ? delivery.audio.length : 0);

const guestOf = ({ accountId, spender }: Pick<SaleRequest, 'accountId' | 'spender'>) => ({
  accountId,
  agentId: spender.agentId,
});

/** Fetches a file. Turns its refusals into the marketplace's own, except refusals with a status of `NOT_OWN`. */
export async function fetched<T>(get: () => Promise<T>): Promise<T> {
  try {
    return await get();
  } catch (error) {
    throw error instanceof ApiError && !NOT_OWN.has(error.status) ? new OwnRefusal(error) : error;
  }
}

/** Statuses that no vendor would answer with: of a refusal by a spend control (403), and of a client that has left (499). */
const NOT_OWN = new Set([403, 499]);

function findService(
  { accounts, vendors }: VendorSalesDeps,
  { service: kind, vendor: name }: Pick<SaleRequest, 'service' | 'vendor'>,
) {
  const sellers = vendors.filter(({ services }) => services[kind] !== undefined);
  const vendor = sellers.find((each) => each.name === name);
  const service = vendor?.services[kind];
  if (vendor === undefined || service === undefined) {
    const names = sellers.map((each) => each.name).join(', ');
    throw new OwnRefusal(
      marketplaceErrors.notFound(`There is no such vendor of ${kind}; there are ${names}.`),
    );
  }
  if (vendor.account !== undefined && !accounts.has(name)) {
    throw new OwnRefusal(
      marketplaceErrors.vendorUnavailable(`This server has no account with ${name}.`),
    );
  }
  return { vendor, service: service as Service<ServiceName> };
}

/** Returns the price of an order and the call of its vendor. Throws the refusal of an order that the vendor does not accept. */
function planned(
  deps: VendorSalesDeps,
  call: ServedCall,
  vendor: Vendor,
  service: Service<ServiceName>,
  order: VendorOrder[ServiceName],
): Goods {
  try {
    const points = 'file' in order ? 0 : requireShort(order, service.mostChars);
    const plan = planOf(service, order);
    const { marginBps } = MARKETPLACE_LIMITS;
    const durationMs = 'file' in order ? order.file.durationMs : 0;
    const characters = plan.characters ?? points;
    const milliUnits = 'file' in order ? durationMs : characters * 1_000;
    const { agentId } = call.spender;
    const priceRaw = listPriceRaw(plan.price, milliUnits, marginBps);
    // An order with a price is read to the end after the client has left, since the vendor bills for it.
    const signal = priceRaw > 0n ? new AbortController().signal : call.signal;
    const onBytes = (bytes: number) =>
      call.share.use(bytes * MARKETPLACE_LIMITS.sale.bytesInFlight.answer);
    const counted = {
      ...deps,
      fetch: (request: FetchRequest) => deps.fetch({ ...request, onBytes }),
    };
    const door = (): AgentVendorClient =>
      openVendorClient(counted, deps.accounts.get(vendor.name), {
        agentId,
        signal,
        soundMs: durationMs,
      });
    return {
      vendor: vendor.name,
      priceRaw,
      usage: 'file' in order ? { audio_second: durationMs / 1_000 } : { character: characters },
      ask: () => deps.saleHealth.watch(vendor.name, () => plan.ask(door())),
    };
  } catch (error) {
    throw error instanceof ApiError ? new OwnRefusal(error) : error;
  }
}
