import type { Sql } from '../../platform/postgres/sql.ts';
import { PAYMENT_LIMITS } from '../limits.ts';

export type NewOnrampSession = {
  readonly id: string;
  readonly accountId: string;
  readonly agentId: number | null;
  readonly destination: string;
  readonly fiatAmount: string | null;
};

/** Inserts a session, and forgets the account's sessions that are too old to be listed. */
export async function insertOnrampSession(sql: Sql, session: NewOnrampSession): Promise<void> {
  const { id, accountId, agentId, destination, fiatAmount } = session;
  await sql`
    with gone as (
      delete from onramp_sessions where account_id = ${accountId}
        and created_at < now() - ${PAYMENT_LIMITS.ramp.sessionDays} * interval '1 day')
    insert into onramp_sessions (id, account_id, agent_id, destination, fiat_amount)
    values (${id}, ${accountId}, ${agentId}, ${destination}, ${fiatAmount})`;
}

export async function hasOnrampSession(sql: Sql, accountId: string, id: string): Promise<boolean> {
  const rows = await sql`
    select 1 from onramp_sessions where id = ${id} and account_id = ${accountId}`;
  return rows.length > 0;
}

export async function isAgentWallet(sql: Sql, address: string): Promise<boolean> {
  const rows = await sql`select 1 from agents where wallet_address = ${address} limit 1`;
  return rows.length > 0;
}

type Row = {
  id: string;
  fiat_amount: string | null;
  created_at: Date;
  is_open: boolean;
  sweep: 'none' | 'pending' | 'completed';
  amount_raw: bigint | null;
};

/**
 * Returns an account's sessions, newest first. What became of the purchase is known by the transfer that carries it on to the
 * agent; with `recoveryOnly`, sessions whose transfer is over or has arrived are left out.
 */
export async function findOnrampSessions(
  sql: Sql,
  accountId: string,
  { recoveryOnly, limit }: { readonly recoveryOnly: boolean; readonly limit: number },
) {
  const rows = await sql<Row[]>`
    select * from (
      select s.id, s.fiat_amount, s.created_at,
        s.created_at > clock_timestamp() - ${PAYMENT_LIMITS.ramp.tokenSeconds} * interval '1 second' as is_open,
        case when t.state = 'completed' then 'completed' when t.id is not null then 'pending' else 'none' end as sweep,
        t.amount_raw
      from onramp_sessions s left join lateral (
        select t.id, t.state, t.amount_raw from transfers t
        where t.onramp_id = s.id and t.account_id = s.account_id and t.state in ('submitted', 'completed')
        order by t.state limit 1) t on true
      where s.account_id = ${accountId}) as session
    where not ${recoveryOnly}::boolean or sweep <> 'completed'
    order by created_at desc, id limit ${limit}`;
  return rows.map((row) => ({
    id: row.id,
    status: statusOf(row),
    sweepStatus: row.sweep,
    mode: 'hosted' as const,
    fiatAmount: row.fiat_amount,
    cryptoAmount: row.amount_raw?.toString() ?? null,
    createdAt: row.created_at.toISOString(),
  }));
}

function statusOf({ is_open: isOpen, sweep }: Row): 'created' | 'completed' | 'expired' {
  if (sweep !== 'none') return 'completed';
  return isOpen ? 'created' : 'expired';
}
