import { unpack } from 'msgpackr';
import { addUsage } from '../../kernel/price.ts';
import type { Sql } from '../../platform/postgres/sql.ts';
import type { SpendAccount } from '../rules/accounts.ts';
import type { Node } from '../rules/node.ts';
import type { Hold } from '../rules/requests.ts';

/** Session of a dead process, claimed by this process. The ledger refuses every later write of the former process. */
export type OrphanSession = {
  readonly sessionId: string;
  readonly epoch: number;
  readonly agentId: number;
  readonly keyId: number | null;
  readonly target: string;
  readonly model: string;
  readonly account: SpendAccount;
  readonly taskId: string | null;
  readonly actionId: string | null;
  readonly customerId: string | null;
  readonly openedMs: number;
};

type SessionRow = {
  id: string;
  epoch: number;
  agent_id: number;
  key_id: number | null;
  target: string;
  model: string;
  account: SpendAccount;
  task_id: string | null;
  action_id: string | null;
  customer_id: string | null;
  opened_at: Date;
};

/**
 * Returns the condition that this process still has its lease, by the database's clock. Without a lease of its own, a process
 * finds no process dead.
 */
const isAlive = (sql: Sql, node: Node) => sql`exists (
  select from leases own where own.node_id = ${node.nodeId} and own.epoch = ${node.leaseEpoch}
    and own.expires_at > clock_timestamp())`;

/**
 * Takes over living sessions whose lease has run out, at most `limit`. Two processes never take the same session: locked rows
 * are skipped, and afterwards the session has the taker's lease. Sessions that this process took before and has not ended are
 * taken again, after new sessions: a session is opened with epoch 1 and only a claim raises the epoch. A settlement of the
 * earlier claim that is still in progress then fails its guard.
 *
 * Calls are left out: the carrier knows the duration of a call, and another process may continue it.
 *
 * A row that changed between the search and its lock is checked once more, alone. A joined lease would still be the previous
 * lease, and a session that another process has just taken would look orphaned; a subquery in the condition finds the present
 * lease.
 */
export async function claimOrphanSessions(
  sql: Sql,
  node: Node,
  limit: number,
): Promise<OrphanSession[]> {
  const rows = await sql<SessionRow[]>`
    update sessions s
    set epoch = s.epoch + 1, node_id = ${node.nodeId}, lease_epoch = ${node.leaseEpoch}
    where s.id in (
      select o.id from sessions o
      where o.ended_at is null and o.kind <> 'call' and ${isAlive(sql, node)}
        and (coalesce((select l.expires_at < clock_timestamp() from leases l
            where l.node_id = o.node_id and l.epoch = o.lease_epoch), true)
          or (o.node_id = ${node.nodeId} and o.lease_epoch = ${node.leaseEpoch} and o.epoch > 1))
      order by o.epoch, o.id
      limit ${limit}
      for no key update of o skip locked)
    returning s.id, s.epoch, s.agent_id, s.key_id, s.target, s.model, s.account, s.task_id,
      s.action_id, s.customer_id, s.opened_at`;
  return rows.map((row) => ({
    sessionId: row.id,
    epoch: row.epoch,
    agentId: row.agent_id,
    keyId: row.key_id,
    target: row.target,
    model: row.model,
    account: row.account,
    taskId: row.task_id,
    actionId: row.action_id,
    customerId: row.customer_id,
    openedMs: row.opened_at.getTime(),
  }));
}

/**
 * Takes over one living session, and returns its epoch and the agent key that opened it. Undefined when the session has ended.
 */
export async function claimSession(
  sql: Sql,
  node: Node,
  sessionId: string,
): Promise<{ readonly epoch: number; readonly key_id: number | null } | undefined> {
  const [row] = await sql<{ epoch: number; key_id: number | null }[]>`
    update sessions set epoch = epoch + 1, node_id = ${node.nodeId}, lease_epoch = ${node.leaseEpoch}
    where id = ${sessionId} and ended_at is null returning epoch, key_id`;
  return row;
}

export type Journal = {
  readonly costRaw: bigint;
  readonly usage: Readonly<Record<string, number>>;
  /** Sequence number of the last line; 0 when the journal is empty. */
  readonly seq: number;
};

/** Reads the cost and the usage that a session has journaled. Only priced and written pieces count. */
export async function readJournal(sql: Sql, sessionId: string): Promise<Journal> {
  const rows = await sql<{ seq: number; cost_raw: bigint; usage: Buffer }[]>`
    select seq, cost_raw, usage from session_journal where session_id = ${sessionId} order by seq`;
  let costRaw = 0n;
  const usage: Record<string, number> = {};
  for (const row of rows) {
    costRaw += row.cost_raw;
    addUsage(usage, unpack(row.usage) as Record<string, number>);
  }
  return { costRaw, usage, seq: rows.at(-1)?.seq ?? 0 };
}

type HoldRow = {
  id: string;
  agent_id: number;
  amount_raw: bigint;
  key_root_id: number | null;
  task_id: string | null;
  host: string | null;
  payee: string | null;
};

const holdOf = (row: HoldRow): Hold => ({
  holdId: row.id,
  agentId: row.agent_id,
  amountRaw: row.amount_raw,
  facts: {
    keyRootId: row.key_root_id,
    taskId: row.task_id,
    host: row.host,
    payee: row.payee,
  },
});

export async function findHold(sql: Sql, holdId: string): Promise<Hold | undefined> {
  const [row] = await sql<HoldRow[]>`
    select id, agent_id, amount_raw, key_root_id, task_id, host, payee from holds
    where id = ${holdId}`;
  return row === undefined ? undefined : holdOf(row);
}

/**
 * Finds holds of single requests whose process is gone, at most `limit`. Left out are holds of signed payments, which the chain
 * decides; holds for the first month of a number that is being bought, which the carrier may have sold; and holds of a vendor's
 * job that has not ended, which another process continues.
 */
export async function findOrphanHolds(sql: Sql, node: Node, limit: number): Promise<Hold[]> {
  const dead = await sql`
    select 1 from leases where expires_at < clock_timestamp() or epoch > 1 limit 1`;
  // The holds, which change all the time, are not read while all processes are alive.
  if (dead.length === 0) return [];
  const rows = await sql<HoldRow[]>`
    select h.id, h.agent_id, h.amount_raw, h.key_root_id, h.task_id, h.host, h.payee
    from holds h join leases l on l.node_id = h.node_id
    where h.kind = 'request' and (l.epoch <> h.lease_epoch or l.expires_at < clock_timestamp())
      and not exists (select 1 from reservations r where r.hold_id = h.id)
      and not exists (
        select 1 from phone_numbers n where n.purchase_id = h.id and n.status = 'buying')
      and not exists (select 1 from marketplace_jobs j where j.id = h.id and j.ended_at is null)
      and ${isAlive(sql, node)}
    limit ${limit}`;
  return rows.map(holdOf);
}

/** Ends a session that has nothing to settle, unless another process has claimed it. Returns true when it ended the session. */
export async function endSession(
  sql: Sql,
  session: { readonly sessionId: string; readonly epoch: number },
  reason: string,
): Promise<boolean> {
  const rows = await sql`
    update sessions set ended_at = now(), end_reason = ${reason}
    where id = ${session.sessionId} and epoch = ${session.epoch} and ended_at is null
    returning 1 as one`;
  return rows.length === 1;
}
