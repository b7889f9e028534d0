import type { Queryable } from '../../platform/postgres/sql.ts';

export type DeveloperRow = {
  readonly accountId: string;
  readonly walletAddress: string;
  readonly displayName: string | null;
  readonly email: string | null;
  readonly createdAt: Date;
  readonly agents: number;
  readonly openAgents: number;
  readonly spendableRaw: bigint;
  readonly heldRaw: bigint;
  readonly consumedRaw: bigint;
  readonly isTelephonySuspended: boolean;
};

/** Returns accounts after an account id, by id, each with its agents and its money. */
export function findDevelopers(
  sql: Queryable,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<DeveloperRow[]> {
  return sql<DeveloperRow[]>`
    select d.account_id as "accountId", d.wallet as "walletAddress",
      d.display_name as "displayName", d.email, d.created_at as "createdAt",
      (select count(*)::int from agents a where a.account_id = d.account_id) as agents,
      (select count(*)::int from agents a where a.account_id = d.account_id
        and a.status <> 'closed') as "openAgents",
      f.spendable as "spendableRaw", f.held as "heldRaw", f.consumed as "consumedRaw",
      exists (select from telephony_suspensions t where t.account_id = d.account_id)
        as "isTelephonySuspended"
    from (select * from developers where account_id > ${after} order by account_id limit ${limit}) d
    cross join lateral (
      select coalesce(sum(spendable_raw), 0)::bigint as spendable,
        coalesce(sum(held_raw), 0)::bigint as held, coalesce(sum(consumed_raw), 0)::bigint as consumed
      from agent_funds where account_id = d.account_id) f
    order by d.account_id`;
}

export type ProcessRow = {
  readonly nodeId: string;
  readonly version: string | null;
  readonly startedAt: Date | null;
  readonly leaseUntil: Date;
  readonly isRunning: boolean;
  readonly openRequests: number | null;
  readonly openSockets: number | null;
  readonly liveSessions: number;
  readonly openHolds: number;
};

/** Returns the processes with a lease, running ones first. Holds and sessions of a process that is gone wait to be settled. */
export function findProcesses(sql: Queryable, limit: number): Promise<ProcessRow[]> {
  return sql<ProcessRow[]>`
    select l.node_id as "nodeId", l.version, l.started_at as "startedAt",
      l.expires_at as "leaseUntil", l.expires_at > clock_timestamp() as "isRunning",
      l.open_requests as "openRequests", l.open_sockets as "openSockets",
      (select count(*)::int from sessions s where s.node_id = l.node_id and s.ended_at is null)
        as "liveSessions",
      coalesce(h.holds, 0) as "openHolds"
    from leases l left join (
      select node_id, count(*)::int as holds from holds group by node_id) h on h.node_id = l.node_id
    order by "isRunning" desc, l.started_at desc nulls last, l.node_id limit ${limit}`;
}
