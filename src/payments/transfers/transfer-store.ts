import type { TransferState } from '../../../machines/transfer.ts';
import type { Queryable } from '../../platform/postgres/sql.ts';
import { PAYMENT_LIMITS } from '../limits.ts';
import type { NewTransfer, Transfer } from './transfer.ts';

/**
 * Columns of a transfer. A transfer with a payout is in the state of its payout, which the ledger writes: no second write has to
 * follow.
 */
const columns = (sql: Queryable) => sql`
  t.id, t.account_id as "accountId", t.direction, t.agent_id as "agentId",
  t.counterparty_agent_id as "counterpartyAgentId", t.from_address as "fromAddress",
  t.to_address as "toAddress", t.amount_raw as "amountRaw", t.nonce, t.onramp_id as "onrampId",
  case p.state when 'done' then 'completed' when 'submitted' then 'submitted' when 'planned' then 'executing'
    else case when t.state = 'prepared' and t.expires_at <= clock_timestamp() then 'expired' else t.state end
    end as state,
  coalesce(p.tx_hash, t.tx_hash) as "txHash", t.failure_reason as "failureReason",
  t.created_at as "createdAt"`;

export async function findTransfer(
  sql: Queryable,
  ref: { readonly id: string; readonly accountId: string },
): Promise<Transfer | undefined> {
  const [row] = await sql<Transfer[]>`
    select ${columns(sql)} from transfers t left join payouts p on p.nonce = t.nonce
    where t.id = ${ref.id} and t.account_id = ${ref.accountId}`;
  return row;
}

/** Returns an account's transfers, newest first, of one agent or of all. */
export async function findTransfers(
  sql: Queryable,
  accountId: string,
  page: { readonly agentId: number | undefined; readonly limit: number },
): Promise<Transfer[]> {
  const { agentId, limit } = page;
  const ofAgent =
    agentId === undefined
      ? sql``
      : sql`and (t.agent_id = ${agentId} or t.counterparty_agent_id = ${agentId})`;
  return sql<Transfer[]>`
    select ${columns(sql)} from transfers t left join payouts p on p.nonce = t.nonce
    where t.account_id = ${accountId} ${ofAgent}
    order by t.created_at desc, t.id limit ${limit}`;
}

/** Counts an account's transfers that may still move something, at most `most`. */
export async function countOpenTransfers(
  sql: Queryable,
  accountId: string,
  most: number,
): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from (
      select 1 from transfers t left join payouts p on p.nonce = t.nonce
      where t.account_id = ${accountId} and t.state in ('prepared', 'submitted')
        and (t.state = 'submitted' or p.state <> 'done'
          or (p.nonce is null and t.expires_at > clock_timestamp()))
      limit ${most}) as open`;
  return row?.count ?? 0;
}

export async function insertTransfer(
  sql: Queryable,
  transfer: NewTransfer,
  validSeconds: number,
): Promise<void> {
  await sql`
    insert into transfers (id, account_id, direction, agent_id, counterparty_agent_id, from_address,
      to_address, amount_raw, nonce, onramp_id, expires_at)
    values (${transfer.id}, ${transfer.accountId}, ${transfer.direction}, ${transfer.agentId},
      ${transfer.counterpartyAgentId}, ${transfer.fromAddress}, ${transfer.toAddress},
      ${transfer.amountRaw.toString()}::bigint, ${transfer.nonce}, ${transfer.onrampId},
      clock_timestamp() + ${validSeconds} * interval '1 second')`;
}

/** A transfer that the developer signs, with its reported transaction. */
export type ReportedTransfer = {
  readonly id: string;
  readonly fromAddress: string;
  readonly toAddress: string;
  readonly amountRaw: bigint;
  readonly txHash: string;
  /** True when the time is over within which the chain must show the transfer. */
  readonly isOverdue: boolean;
};

/**
 * Moves a transfer that the developer signs from one state to another. Returns false when another request has moved it, or has
 * reported another transaction meanwhile. Rejects when another transfer has this transaction.
 */
export async function moveTransfer(
  sql: Queryable,
  move: {
    readonly id: string;
    readonly from: TransferState;
    readonly to: TransferState;
    readonly txHash: string;
    /** True when the transaction is free to be reported for another transfer. */
    readonly freesHash?: boolean;
    readonly failureReason?: string;
  },
): Promise<boolean> {
  const { id, from, to, txHash: provenHash, freesHash = false, failureReason = null } = move;
  const rows = await sql`
    update transfers set state = ${to}, tx_hash = ${freesHash ? null : provenHash}, failure_reason = ${failureReason}
    where id = ${id} and state = ${from} and nonce is null
      and (${to} = 'submitted' or tx_hash = ${provenHash}) returning 1`;
  return rows.length > 0;
}

/** Notes the on-ramp session whose purchase a transfer carries on. */
export async function saveOnramp(sql: Queryable, id: string, onrampId: string): Promise<void> {
  await sql`update transfers set onramp_id = ${onrampId} where id = ${id}`;
}

/** Claims a bounded batch of reported transactions that are due for a look at the chain. */
export async function claimReported(sql: Queryable): Promise<ReportedTransfer[]> {
  const { firstMs, maxMs, doublings, perPass, submittedSeconds } = PAYMENT_LIMITS.transfer.watch;
  return sql<ReportedTransfer[]>`
    with due as (
      select id from transfers where state = 'submitted' and next_at <= clock_timestamp()
      order by next_at limit ${perPass} for update skip locked)
    update transfers t
    set attempts = t.attempts + 1,
      next_at = clock_timestamp() + interval '1 millisecond'
        * least(${maxMs}::float8, ${firstMs}::float8 * 2 ^ least(t.attempts, ${doublings}::int))
    from due where t.id = due.id
    returning t.id, t.from_address as "fromAddress", t.to_address as "toAddress",
      t.amount_raw as "amountRaw", t.tx_hash as "txHash",
      t.created_at < clock_timestamp() - ${submittedSeconds} * interval '1 second' as "isOverdue"`;
}

/**
 * Takes transfers that are over out of the index of open ones: payouts that are done, and transfers that were never executed.
 * An execution that began before the deadline may still be written, so that these wait an hour.
 */
export async function tidyTransfers(sql: Queryable): Promise<void> {
  await sql`
    with over as (
      select t.id, p.state from transfers t left join payouts p on p.nonce = t.nonce
      where t.state = 'prepared'
        and (p.state = 'done' or (p.nonce is null and t.expires_at < now() - interval '1 hour'))
      limit ${PAYMENT_LIMITS.transfer.tidied} for update of t skip locked)
    update transfers t
    set state = case when over.state is null then 'expired' else 'completed' end
    from over where t.id = over.id and t.state = 'prepared'`;
}
