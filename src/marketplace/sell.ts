import { ApiError } from '../kernel/api-error.ts';
import type { Clock } from '../kernel/clock.ts';
import { errors } from '../kernel/errors.ts';
import { newId } from '../kernel/ids.ts';
import type { Log } from '../kernel/log.ts';
import type { Random } from '../kernel/random.ts';
import { type ChargeRow, latencyOf } from '../ledger/rules/companion.ts';
import type { HoldVerdict, Ledger } from '../ledger/rules/ledger.ts';
import type { Hold, HoldRefusal, Spender } from '../ledger/rules/requests.ts';
import { VendorGaveUp } from '../models/providers/vendors/vendor-api.ts';
import type { BudgetReports } from '../spend/awareness/budget-left.ts';
import { marketplaceSold } from '../webhooks/payment-event.ts';
import { type Delivery, VendorRefused } from './vendor.ts';

export type SellDeps = {
  readonly ledger: Pick<Ledger, 'hold' | 'settle'>;
  readonly budgets: BudgetReports;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Whose agent it is, for the event of a sale. */
  readonly findOwner: (agentId: number) => Promise<Owner | undefined>;
};

type Owner = { readonly accountId: string; readonly wallet: string | null };

/** Who buys, and how the sale stands in the agent's history. */
export type Sale = {
  readonly spender: Spender;
  /** Becomes the id of the hold. */
  readonly workId: string | undefined;
  readonly url: string;
  /** What spend controls know the marketplace by. */
  readonly host: string;
  /** Fires when the client leaves; never where its answer is kept under an Idempotency-Key. */
  readonly signal: AbortSignal;
  readonly refusalOfHold: (refusal: HoldRefusal) => Error;
};

/** What is sold: its whole price, and how it is got. */
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
 * Sells what a vendor delivers: holds the price, asks, and settles in one of three ways. To the price where all of it has
 * come, also when the client has left meanwhile: the vendor bills what it was asked for. To nothing where the vendor has
 * not delivered. And to nothing where the client has left before the vendor was asked, or before something free has come.
 * What a vendor reports of its own work is not asked. Throws the refusal of the hold, and whatever `ask` throws; then
 * nothing was charged.
 */
export async function sell(deps: SellDeps, sale: Sale, goods: Goods): Promise<Sold> {
  const { clock } = deps;
  const arrivedMs = clock.monotonicMs();
  const held = await hold(deps, sale, goods);
  const askedMs = clock.monotonicMs();
  // Read while the vendor works.
  const owning = goods.priceRaw > 0n ? ownerOf(deps, sale) : undefined;
  const times = () => ({
    latencyMs: clock.monotonicMs() - arrivedMs,
    upstreamMs: clock.monotonicMs() - askedMs,
  });
  let delivery: Delivery;
  try {
    requireClient(sale);
    delivery = await goods.ask();
    if (goods.priceRaw === 0n) requireClient(sale);
  } catch (error) {
    const row = rowOf(sale, goods, { ...times(), status: 'failed', code: codeOf(error) });
    await settle(deps, held, goods, 0n, row);
    throw error;
  }
  const spent = times();
  const row = rowOf(sale, goods, { ...spent, status: 'success', code: 200 });
  const owner = await owning;
  const { chargedRaw, advisory } = await settle(deps, held, goods, goods.priceRaw, row, {
    sale,
    owner,
  });
  return { delivery, chargedRaw, advisory, upstreamMs: spent.upstreamMs };
}

function requireClient({ signal }: Sale): void {
  if (signal.aborted) throw errors.request.clientClosed();
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

async function settle(
  deps: SellDeps,
  held: Held,
  { vendor: source }: Goods,
  actualRaw: bigint,
  charges: Row,
  made?: { readonly sale: Sale; readonly owner: Owner | undefined },
): Promise<{ readonly chargedRaw: bigint; readonly advisory: string | undefined }> {
  const { budgets, ledger, log } = deps;
  const { hold } = held;
  const verdict = await ledger.settle({
    ...{ hold, account: 'marketplace', actualRaw, source, charges },
    ...(made?.owner !== undefined && { events: [eventOf(hold, made.sale, made.owner, actualRaw)] }),
  });
  if (verdict.kind !== 'settled') {
    log.error({ holdId: hold.holdId }, 'the hold of a sale was resolved by another process');
    return { chargedRaw: 0n, advisory: undefined };
  }
  if (made === undefined) return { chargedRaw: verdict.chargedRaw, advisory: undefined };
  const { spender } = made.sale;
  const { advisory } = await budgets.left(verdict, { spender, facts: hold.facts });
  return { chargedRaw: verdict.chargedRaw, advisory };
}

const eventOf = ({ agentId, holdId }: Hold, { host, url }: Sale, owner: Owner, amountRaw: bigint) =>
  marketplaceSold({ ...owner, agentId, url, host, amountRaw, reference: holdId });

/** Never rejects: the sale stands without its event. */
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
    {
      agentId: spender.agentId,
      keyId: spender.keyId ?? null,
      targetUrl: url,
      targetHost: host,
      method: 'POST',
      status: made.status,
      costRaw,
      model: null,
      rail: 'marketplace',
      usage: made.status === 'success' ? usage : {},
      taskId: spender.taskId ?? null,
      actionId: spender.actionId ?? null,
      customerId: spender.customerId ?? null,
      sessionId: null,
      payee: null,
      responseStatusCode: made.code,
      latencyMs: latencyOf(made.latencyMs),
      overheadMs: latencyOf(made.latencyMs - made.upstreamMs),
      upstreamMs: latencyOf(made.upstreamMs),
    },
  ];
