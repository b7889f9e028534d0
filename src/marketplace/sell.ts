import { requestErrors } from '../http/route/errors.ts';
import { ApiError } from '../kernel/api-error.ts';
import type { Clock } from '../kernel/clock.ts';
import { newId } from '../kernel/ids.ts';
import type { Log } from '../kernel/log.ts';
import type { Random } from '../kernel/random.ts';
import { type ChargeRow, chargeRow, type EventRow } from '../ledger/rules/companion.ts';
import type { HoldVerdict, Ledger, SettleVerdict } from '../ledger/rules/ledger.ts';
import type { Hold, HoldRefusal, Spender } from '../ledger/rules/requests.ts';
import { VendorGaveUp } from '../models/providers/vendors/vendor-api.ts';
import { usageAttributes } from '../models/routing/attempt-span.ts';
import type { Span } from '../platform/tracing/span.ts';
import type { BudgetReports } from '../spend/awareness/budget-left.ts';
import { marketplaceSold } from '../webhooks/payment-event.ts';
import { type Deviation, deviationOf } from './tripwires/deviation.ts';
import type { Owner, Tripwires } from './tripwires/tripwires.ts';
import { type Delivery, VendorAnsweredOther, VendorRefused } from './vendor.ts';

export type SellDeps = {
  readonly ledger: Pick<Ledger, 'hold' | 'settle'>;
  readonly budgets: BudgetReports;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Finds the account of an agent, which gets the event of a sale. */
  readonly findOwner: (agentId: number) => Promise<Owner | undefined>;
  readonly tripwires: Tripwires;
};

/** Spender of a purchase, and the URL and host for the agent's history. */
export type Sale = {
  readonly spender: Spender;
  /** Id that the hold gets. Undefined: the hold gets a new id. */
  readonly workId: string | undefined;
  readonly url: string;
  /** The marketplace's name in spend controls. */
  readonly host: string;
  /** Fires when the client leaves. Never fires when the answer is kept under an Idempotency-Key. */
  readonly signal: AbortSignal;
  readonly refusalOfHold: (refusal: HoldRefusal) => Error;
  /** Parent span of the sale. Undefined when the sale is not traced. */
  readonly span?: Span | undefined;
};

/** Goods of a sale: their vendor, their whole price, and the call that fetches them. */
export type Goods = {
  readonly vendor: string;
  readonly priceRaw: bigint;
  readonly usage: Readonly<Record<string, number>>;
  readonly ask: () => Promise<Delivery>;
};

export type Sold = {
  readonly delivery: Delivery;
  readonly chargedRaw: bigint;
  readonly upstreamMs: number;
  readonly advisory: string | undefined;
};

type Held = Extract<HoldVerdict, { kind: 'held' }>;

/**
 * Sells a vendor's delivery: holds the price, calls the vendor and settles. Charges the price when the whole delivery has come,
 * also when the client has left meanwhile: the vendor bills the order. Charges nothing when the vendor has not delivered, or
 * when the client has left before the vendor was called or before a free delivery came. A vendor's report of its work does not
 * change the charge. Throws the refusal of the hold, and the errors of `ask`; nothing was charged then.
 */
export async function sell(deps: SellDeps, sale: Sale, goods: Goods): Promise<Sold> {
  const { vendor } = goods;
  const span = sale.span?.child(`marketplace ${vendor}`, {
    kind: 'client',
    attributes: { 'svc.vendor': vendor, 'svc.agent.id': sale.spender.agentId },
  });
  try {
    const sold = await sellOnce(deps, { ...sale, span }, goods);
    const cost = { 'svc.cost_raw': Number(sold.chargedRaw) };
    span?.end({ attributes: { ...usageAttributes(goods.usage), ...cost } });
    return sold;
  } catch (error) {
    span?.end({ error: error instanceof ApiError ? error.error : 'vendor_failed' });
    throw error;
  }
}

async function sellOnce(deps: SellDeps, sale: Sale, goods: Goods): Promise<Sold> {
  const { clock } = deps;
  const arrivedMs = clock.monotonicMs();
  const held = await hold(deps, sale, goods);
  sale.span?.set({ 'svc.hold.id': held.hold.holdId });
  const askedMs = clock.monotonicMs();
  // The owner is read while the vendor works.
  const owning = goods.priceRaw > 0n ? ownerOf(deps, sale) : undefined;
  const times = () => ({
    latencyMs: clock.monotonicMs() - arrivedMs,
    upstreamMs: clock.monotonicMs() - askedMs,
  });
  const tell = (departures: readonly Deviation[]) =>
    deps.tripwires.eventsOf(
      {
        agentId: held.hold.agentId,
        vendor: goods.vendor,
        reference: held.hold.holdId,
        owner: async () => (await owning) ?? ownerOf(deps, sale),
      },
      departures,
    );
  let delivery: Delivery;
  try {
    requireClient(sale);
    delivery = await goods.ask();
    if (goods.priceRaw === 0n) requireClient(sale);
  } catch (error) {
    const row = rowOf(sale, goods, { ...times(), status: 'failed', code: codeOf(error) });
    const events = await tell(error instanceof VendorAnsweredOther ? [error.departure] : []);
    await settle(deps, held, goods, 0n, { charges: row, events });
    throw error;
  }
  const spent = times();
  const charges = rowOf(sale, goods, { ...spent, status: 'success', code: 200 });
  const owner = await owning;
  const sold = owner === undefined ? [] : [eventOf(held.hold, sale, owner, goods.priceRaw)];
  const events = [...sold, ...(await tell(departuresOf(goods, delivery)))];
  const verdict = await settle(deps, held, goods, goods.priceRaw, { charges, events });
  return { delivery, ...(await reportOf(deps, sale, held, verdict)), upstreamMs: spent.upstreamMs };
}

/** Returns the differences between a vendor's delivery and the measured order. */
function departuresOf({ usage }: Goods, { departure, reported }: Delivery): readonly Deviation[] {
  const measured = deviationOf(usage, reported);
  return [departure, measured].filter((each) => each !== undefined);
}

function requireClient({ signal }: Sale): void {
  if (signal.aborted) throw requestErrors.clientClosed();
}

async function hold(
  { ledger, random }: SellDeps,
  { host, refusalOfHold, spender, workId }: Sale,
  { priceRaw: amountRaw }: Goods,
): Promise<Held> {
  const holdId = workId ?? newId(random, 'mkt_');
  const destination = { host, payee: null };
  const verdict = await ledger.hold({ spender, holdId, amountRaw, destination });
  if (verdict.kind === 'refused') throw refusalOfHold(verdict.refusal);
  return verdict;
}

type Row = (costRaw: bigint) => readonly ChargeRow[];

/** Settles a hold. Undefined when another process has resolved the hold; nothing is charged then. */
async function settle(
  { ledger, log }: SellDeps,
  { hold }: Held,
  { vendor: source }: Goods,
  actualRaw: bigint,
  written: { readonly charges: Row; readonly events: readonly EventRow[] },
): Promise<Settled | undefined> {
  const verdict = await ledger.settle({
    hold,
    account: 'marketplace',
    actualRaw,
    source,
    charges: written.charges,
    ...(written.events.length > 0 && { events: written.events }),
  });
  if (verdict.kind === 'settled') return verdict;
  log.error({ holdId: hold.holdId }, 'the hold of a sale was resolved by another process');
  return undefined;
}

type Settled = Extract<SettleVerdict, { kind: 'settled' }>;

async function reportOf(
  { budgets }: SellDeps,
  { spender }: Sale,
  { hold }: Held,
  settled: Settled | undefined,
): Promise<Pick<Sold, 'chargedRaw' | 'advisory'>> {
  if (settled === undefined) return { chargedRaw: 0n, advisory: undefined };
  const { advisory } = await budgets.left(settled, { spender, facts: hold.facts });
  return { chargedRaw: settled.chargedRaw, advisory };
}

const eventOf = ({ agentId, holdId }: Hold, { host, url }: Sale, owner: Owner, amountRaw: bigint) =>
  marketplaceSold({ ...owner, agentId, url, host, amountRaw, reference: holdId });

/** Returns the owner of an event. Never rejects: the sale stands without its event. */
async function ownerOf(
  { findOwner, log }: SellDeps,
  { spender }: Sale,
): Promise<Owner | undefined> {
  try {
    return await findOwner(spender.agentId);
  } catch (err) {
    log.warn({ err }, 'the event of a sale was left out');
    return undefined;
  }
}

function codeOf(error: unknown): number | null {
  if (error instanceof VendorRefused) return error.answer.status;
  if (error instanceof VendorGaveUp) return 422;
  return error instanceof ApiError ? error.status : null;
}

const rowOf =
  (
    { host, spender, url }: Sale,
    { usage }: Goods,
    made: {
      readonly latencyMs: number;
      readonly upstreamMs: number;
      readonly status: 'success' | 'failed';
      readonly code: number | null;
    },
  ): Row =>
  (costRaw) => [
    chargeRow(spender, {
      targetUrl: url,
      targetHost: host,
      method: 'POST',
      status: made.status,
      costRaw,
      rail: 'marketplace',
      usage: made.status === 'success' ? usage : {},
      responseStatusCode: made.code,
      latencyMs: made.latencyMs,
      overheadMs: made.latencyMs - made.upstreamMs,
      upstreamMs: made.upstreamMs,
    }),
  ];
