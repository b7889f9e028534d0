import type { Queryable, Sql } from '../../platform/postgres/sql.ts';
import type { Node } from '../rules/node.ts';

/**
 * Takes a lease for a process, by the database's clock. A node id that was used before gets the next epoch, so that holds and
 * sessions of the earlier process are orphans.
 */
export async function takeLease(
  sql: Queryable,
  nodeId: string,
  leaseMs: number,
  version: string | null = null,
): Promise<Node> {
  const [row] = await sql<{ epoch: number }[]>`
    insert into leases as l (node_id, epoch, expires_at, version, started_at)
    values (${nodeId}, 1, clock_timestamp() + ${leaseMs} * interval '1 millisecond', ${version},
      clock_timestamp())
    on conflict (node_id) do update
    set epoch = l.epoch + 1, expires_at = excluded.expires_at, version = excluded.version,
      started_at = excluded.started_at
    returning epoch`;
  return { nodeId, leaseEpoch: row?.epoch ?? 1 };
}

/** `lapsed`: the lease had run out and is taken again. `taken`: another process has this node id. */
export type Renewal = 'renewed' | 'lapsed' | 'taken';

/** Requests and sockets that a process has open. */
export type OpenWork = { readonly requests: number; readonly sockets: number };

/** Renews the lease of a process for `leaseMs` milliseconds from now, by the database's clock. */
export async function renewLease(
  sql: Queryable,
  node: Node,
  leaseMs: number,
  open: OpenWork | undefined,
): Promise<Renewal> {
  const [row] = await sql<{ held: boolean }[]>`
    insert into leases as l (node_id, epoch, expires_at, open_requests, open_sockets)
    values (${node.nodeId}, ${node.leaseEpoch},
      clock_timestamp() + ${leaseMs} * interval '1 millisecond', ${open?.requests ?? null},
      ${open?.sockets ?? null})
    on conflict (node_id) do update
    set expires_at = excluded.expires_at, open_requests = excluded.open_requests,
      open_sockets = excluded.open_sockets
    where l.epoch = excluded.epoch
    returning exists (
      select from leases b where b.node_id = l.node_id and b.expires_at > clock_timestamp()
    ) as held`;
  if (row === undefined) return 'taken';
  return row.held ? 'renewed' : 'lapsed';
}

/** Ends the lease at a clean shutdown, so that any process may take over its work at once. */
export async function endLease(sql: Queryable, node: Node): Promise<void> {
  await sql`
    update leases set expires_at = clock_timestamp()
    where node_id = ${node.nodeId} and epoch = ${node.leaseEpoch}`;
}

/** Deletes leases that expired long ago and that no open hold or open session refers to. */
export async function pruneLeases(sql: Sql, retentionMs: number): Promise<void> {
  await sql`
    delete from leases l
    where l.expires_at < clock_timestamp() - ${retentionMs} * interval '1 millisecond'
      and not exists (select 1 from holds h where h.node_id = l.node_id)
      and not exists (select 1 from sessions s where s.node_id = l.node_id and s.ended_at is null)`;
}
