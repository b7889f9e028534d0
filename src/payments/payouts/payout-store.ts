import type { NewPayout } from '../../ledger/rules/payment.ts';
import type { Queryable } from '../../platform/postgres/sql.ts';
import { PAYMENT_LIMITS } from '../limits.ts';
import type { ClaimedPayout, OpenPayout, PastPayout } from './payout.ts';

/** Reads at most `limit` payouts that the chain does not show yet. */
export async function findOpenPayouts(sql: Queryable, limit: number): Promise<OpenPayout[]> {
  return sql<OpenPayout[]>`
    select nonce, agent_id as "agentId", wallet, payee, amount_raw as "amountRaw"
    from payouts where state <> 'done' order by next_at limit ${limit}`;
}

/**
 * Returns a payout by its nonce; `isDone` is true when the chain has shown the payout. Undefined when there is no such payout.
 */
export async function findPayout(
  sql: Queryable,
  nonce: string,
): Promise<(OpenPayout & { readonly isDone: boolean }) | undefined> {
  const [row] = await sql<(OpenPayout & { readonly isDone: boolean })[]>`
    select nonce, agent_id as "agentId", wallet, payee, amount_raw as "amountRaw",
      state = 'done' as "isDone"
    from payouts where nonce = ${nonce}`;
  return row;
}

/** Counts the payouts that the chain has not shown yet, by kind. */
export async function countOpenPayouts(
  sql: Queryable,
): Promise<ReadonlyMap<NewPayout['kind'], number>> {
  const rows = await sql<{ kind: NewPayout['kind']; count: number }[]>`
    select kind, count(*)::int as count from payouts where state <> 'done' group by kind`;
  return new Map(rows.map(({ kind, count }) => [kind, count]));
}

export async function hasOpenPayouts(sql: Queryable): Promise<boolean> {
  const rows = await sql`select 1 from payouts where state <> 'done' limit 1`;
  return rows.length > 0;
}

type Row = Omit<PastPayout, 'createdMs'> & { readonly created_at: Date };

const columns = (sql: Queryable) => sql`
  p.nonce, p.agent_id as "agentId", a.account_id as "accountId", p.kind, p.wallet, p.payee,
  p.amount_raw as "amountRaw", p.attempts, p.created_at`;

const payoutOf = ({ created_at, ...payout }: Row): PastPayout => ({
  ...payout,
  createdMs: created_at.getTime(),
});

/** Returns the payouts that the chain has shown within `forSeconds`, latest first. Read only after a reorganisation. */
export async function findDonePayouts(
  sql: Queryable,
  forSeconds: number,
  limit: number,
): Promise<PastPayout[]> {
  const rows = await sql<Row[]>`
    select ${columns(sql)} from payouts p join agents a on a.id = p.agent_id
    where p.done_at > now() - ${forSeconds} * interval '1 second'
    order by p.done_at desc limit ${limit}`;
  return rows.map(payoutOf);
}

/**
 * Claims a bounded batch of due payouts, of one agent or of all. A claimed payout is due again after a wait that doubles each
 * time, so that another process takes over when this process dies or the chain does not take the payout.
 */
export async function claimPayouts(
  sql: Queryable,
  validBefore: number,
  agentId?: number,
): Promise<ClaimedPayout[]> {
  const { firstMs, maxMs, doublings } = PAYMENT_LIMITS.payout.retry;
  const ofAgent = agentId === undefined ? sql`` : sql`and agent_id = ${agentId}`;
  const rows = await sql<Row[]>`
    with due as (
      select nonce from payouts where state <> 'done' and next_at <= clock_timestamp() ${ofAgent}
      order by next_at limit ${PAYMENT_LIMITS.payout.perPass} for update skip locked)
    update payouts p
    set attempts = p.attempts + 1, valid_before = ${validBefore},
      next_at = clock_timestamp() + interval '1 millisecond'
        * least(${maxMs}::float8, ${firstMs}::float8 * 2 ^ least(p.attempts, ${doublings}::int))
    from due, agents a
    where p.nonce = due.nonce and a.id = p.agent_id
    returning ${columns(sql)}`;
  return rows.map((row) => ({ ...payoutOf(row), validBefore }));
}

/** Notes the transaction in which a payout was handed to the chain. A payout that the chain has shown meanwhile stays done. */
export async function savePayoutSubmitted(
  sql: Queryable,
  nonce: string,
  txHash: string,
): Promise<void> {
  await sql`
    update payouts set state = 'submitted', tx_hash = ${txHash}
    where nonce = ${nonce} and state <> 'done'`;
}

/** Sum of the closing payouts that were handed to the chain, with the hash of the latest one. */
export type PaidAtClose = { readonly amountRaw: bigint; readonly txHash: string };

export async function findPaidAtClose(
  sql: Queryable,
  agentId: number,
): Promise<PaidAtClose | undefined> {
  const [row] = await sql<{ amountRaw: bigint; txHash: string | null }[]>`
    select coalesce(sum(amount_raw), 0)::bigint as "amountRaw",
      (array_agg(tx_hash order by created_at desc, nonce))[1] as "txHash"
    from payouts where agent_id = ${agentId} and kind = 'close' and tx_hash is not null`;
  if (row === undefined || row.txHash === null) return undefined;
  return { amountRaw: row.amountRaw, txHash: row.txHash };
}
