import type { CashOutState } from '../../../machines/cash-out.ts';
import type { Queryable } from '../../platform/postgres/sql.ts';
import { PAYMENT_LIMITS } from '../limits.ts';
import type { CashOut, NewCashOut } from './cash-out.ts';

const columns = (sql: Queryable) => sql`
  c.id, c.ref, c.account_id as "accountId", c.source_kind as "sourceKind", c.agent_id as "agentId",
  c.state, c.owner_address as "ownerAddress", c.agent_wallet as "agentWallet",
  c.requested_raw as "requestedRaw", c.final_raw as "finalRaw", c.fiat_estimate as "fiatEstimate",
  c.deposit_address as "depositAddress", c.sale_id as "saleId", c.transfer_id as "transferId",
  (select p.tx_hash from transfers t join payouts p on p.nonce = t.nonce where t.id = c.transfer_id)
    as "legTxHash",
  c.send_tx_hash as "sendTxHash", c.failure_reason as "failureReason",
  c.created_at as "createdAt", c.updated_at as "updatedAt"`;

type Row = Omit<CashOut, 'id'> & { readonly id: bigint };
const orderOf = (row: Row): CashOut => ({ ...row, id: Number(row.id) });

export async function findCashOut(
  sql: Queryable,
  key: { readonly ref: string; readonly accountId: string },
): Promise<CashOut | undefined> {
  const [row] = await sql<Row[]>`
    select ${columns(sql)} from cash_outs c
    where c.ref = ${key.ref} and c.account_id = ${key.accountId}`;
  return row && orderOf(row);
}

/** Returns a page of an account's orders, newest first, from before an id. */
export async function findCashOuts(
  sql: Queryable,
  accountId: string,
  page: { readonly beforeId: number; readonly limit: number },
): Promise<CashOut[]> {
  const rows = await sql<Row[]>`
    select ${columns(sql)} from cash_outs c
    where c.account_id = ${accountId} and c.id < ${String(page.beforeId)}::bigint
    order by c.id desc limit ${page.limit}`;
  return rows.map(orderOf);
}

export async function countOpenCashOuts(sql: Queryable, accountId: string): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from cash_outs
    where account_id = ${accountId} and state not in ('completed', 'failed', 'expired', 'cancelled')`;
  return row?.count ?? 0;
}

/** Inserts an order. The process that starts it has `createdSeconds` before others go on with it. */
export async function insertCashOut(tx: Queryable, order: NewCashOut): Promise<void> {
  const { createdSeconds } = PAYMENT_LIMITS.cashOut;
  const waitSeconds = order.state === 'created' ? createdSeconds : 0;
  await tx`
    insert into cash_outs (ref, account_id, source_kind, agent_id, state, owner_address, agent_wallet,
      requested_raw, transfer_id, next_at, deadline_at)
    values (${order.ref}, ${order.accountId}, ${order.sourceKind}, ${order.agentId}, ${order.state},
      ${order.ownerAddress}, ${order.agentWallet}, ${order.requestedRaw.toString()}::bigint,
      ${order.transferId}, clock_timestamp() + ${waitSeconds} * interval '1 second',
      clock_timestamp() + ${deadlineOf(order.state)}::float8 * interval '1 second')`;
}

/** Facts that an order learns with a step; an absent fact stays as it was. */
export type Learnt = {
  readonly finalRaw?: bigint | null;
  readonly fiatEstimate?: string | null;
  readonly depositAddress?: string | null;
  readonly saleId?: string | null;
  readonly sendTxHash?: string | null;
  readonly failureReason?: string | null;
};

/**
 * Moves an order from one state to another, and makes it due again soon. Returns false when the order is in another state by
 * now.
 */
export async function moveCashOut(
  sql: Queryable,
  ref: string,
  step: { readonly from: CashOutState; readonly to: CashOutState },
  learnt: Learnt = {},
): Promise<boolean> {
  const { firstMs } = PAYMENT_LIMITS.cashOut.retry;
  const { from, to } = step;
  const finalRaw = learnt.finalRaw?.toString() ?? null;
  const rows = await sql`
    update cash_outs set state = ${to}, attempts = 0, updated_at = clock_timestamp(),
      next_at = clock_timestamp() + ${firstMs} * interval '1 millisecond',
      deadline_at = clock_timestamp() + ${deadlineOf(to)}::float8 * interval '1 second',
      final_raw = coalesce(${finalRaw}::bigint, final_raw),
      fiat_estimate = coalesce(${learnt.fiatEstimate ?? null}, fiat_estimate),
      deposit_address = coalesce(${learnt.depositAddress ?? null}, deposit_address),
      sale_id = coalesce(${learnt.saleId ?? null}, sale_id),
      send_tx_hash = coalesce(${learnt.sendTxHash ?? null}, send_tx_hash),
      failure_reason = coalesce(${learnt.failureReason ?? null}, failure_reason)
    where ref = ${ref} and state = ${from} returning 1`;
  return rows.length > 0;
}

/** Returns the seconds after which a state ends by itself; null for a state that does not. */
const deadlineOf = (state: CashOutState): number | null => {
  const { deadlineSeconds } = PAYMENT_LIMITS.cashOut;
  return state in deadlineSeconds ? deadlineSeconds[state as keyof typeof deadlineSeconds] : null;
};

/** An order that this process looks at, and whether its state's time is over. */
export type ClaimedCashOut = CashOut & { readonly isOverdue: boolean };

/**
 * Claims a bounded batch of open orders that are due. A claimed order is due again after a wait that doubles each time, so that
 * another process goes on when this process dies.
 */
export async function claimCashOuts(sql: Queryable): Promise<ClaimedCashOut[]> {
  const { firstMs, maxMs, doublings } = PAYMENT_LIMITS.cashOut.retry;
  const rows = await sql<(Row & { readonly isOverdue: boolean })[]>`
    with due as (
      select id from cash_outs
      where state not in ('completed', 'failed', 'expired', 'cancelled') and next_at <= clock_timestamp()
      order by next_at limit ${PAYMENT_LIMITS.cashOut.perPass} for update skip locked),
    claimed as (
      update cash_outs o set attempts = o.attempts + 1,
        next_at = clock_timestamp() + interval '1 millisecond'
          * least(${maxMs}::float8, ${firstMs}::float8 * 2 ^ least(o.attempts, ${doublings}::int))
      from due where o.id = due.id returning o.*)
    select ${columns(sql)}, coalesce(c.deadline_at < clock_timestamp(), false) as "isOverdue"
    from claimed c`;
  return rows.map((row) => ({ ...orderOf(row), isOverdue: row.isOverdue }));
}
