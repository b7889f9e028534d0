import type { ReservationState } from '../../../machines/reservation.ts';
import type { Queryable } from '../../platform/postgres/sql.ts';
import type { Reservation } from './reservation.ts';

type Row = {
  nonce: string;
  hold_id: string;
  agent_id: number;
  key_id: number | null;
  key_root_id: number | null;
  wallet: string;
  payee: string;
  value_raw: bigint;
  valid_before: bigint;
  target_url: string;
  target_host: string;
  method: string;
  task_id: string | null;
  action_id: string | null;
  customer_id: string | null;
  state: ReservationState;
  refused: boolean;
  tx_hash: string | null;
  response_status_code: number | null;
  latency_ms: number | null;
  reserved_at: Date;
  sent_at: Date | null;
  decided_at: Date | null;
  is_corrected: boolean;
};

const select = (sql: Queryable) => sql`
  select r.nonce, r.hold_id, r.agent_id, r.key_id, coalesce(k.root_id, k.id) as key_root_id,
    r.wallet, r.payee, r.value_raw, r.valid_before, r.target_url, r.target_host, r.method, r.task_id,
    r.action_id, r.customer_id, r.state, r.refused, r.tx_hash, r.response_status_code, r.latency_ms,
    r.reserved_at, r.sent_at, r.decided_at, r.corrected_at is not null as is_corrected
  from reservations r left join agent_keys k on k.id = r.key_id`;

/** Returns a reservation. Undefined when there is none, or when it belongs to another agent. */
export async function findReservation(
  sql: Queryable,
  nonce: string,
  agentId?: number,
): Promise<Reservation | undefined> {
  const [row] = await sql<Row[]>`
    ${select(sql)} where r.nonce = ${nonce}
      and (${agentId ?? null}::integer is null or r.agent_id = ${agentId ?? null})`;
  return row && reservationOf(row);
}

/** Returns the reservations that the chain has yet to decide, soonest end first, at most `limit`. */
export async function findLive(sql: Queryable, limit: number): Promise<Reservation[]> {
  const rows = await sql<Row[]>`
    ${select(sql)} where r.state in ('reserved', 'sent', 'pending_settlement')
    order by r.valid_before limit ${limit}`;
  return rows.map(reservationOf);
}

/** Returns the reservations that ended lately without a payment. A late log of the chain would overrule such an end. */
export const findWatched = (sql: Queryable, bounds: LatelyDecided): Promise<Reservation[]> =>
  findDecided(sql, bounds, sql`r.state <> 'settled' and r.corrected_at is null`);

/** Returns the reservations that were settled lately. */
export const findSettled = (sql: Queryable, bounds: LatelyDecided): Promise<Reservation[]> =>
  findDecided(sql, bounds, sql`r.state = 'settled'`);

/** Returns true when a settled payment was credited again after a reorganisation had removed it from the chain. */
export async function wasGivenBack(sql: Queryable, nonce: string): Promise<boolean> {
  const rows = await sql`select 1 from postings where id = ${`credit:vanished:${nonce}`}`;
  return rows.length > 0;
}

type LatelyDecided = { readonly forSeconds: number; readonly limit: number };

/** Returns decided reservations, newest first. */
async function findDecided(
  sql: Queryable,
  { forSeconds, limit }: LatelyDecided,
  which: ReturnType<typeof select>,
): Promise<Reservation[]> {
  const rows = await sql<Row[]>`
    ${select(sql)} where r.decided_at > now() - ${forSeconds} * interval '1 second' and ${which}
    order by r.decided_at desc limit ${limit}`;
  return rows.map(reservationOf);
}

/** Returns the account of an agent and the wallet that it pays from. */
export async function findOwner(
  sql: Queryable,
  agentId: number,
): Promise<{ readonly accountId: string; readonly wallet: string | null } | undefined> {
  const [row] = await sql<{ accountId: string; wallet: string | null }[]>`
    select account_id as "accountId", wallet_address as wallet from agents where id = ${agentId}`;
  return row;
}

/** Returns the account of an agent; `isFirst` is true when no payment of the agent has been settled yet. */
export async function findPayer(
  sql: Queryable,
  agentId: number,
): Promise<{ readonly accountId: string; readonly isFirst: boolean } | undefined> {
  const [row] = await sql<{ accountId: string; isFirst: boolean }[]>`
    select a.account_id as "accountId", not exists (
      select 1 from reservations r where r.agent_id = a.id and r.state = 'settled') as "isFirst"
    from agents a where a.id = ${agentId}`;
  return row;
}

/** Counts the payments that wait for the chain, by state. */
export async function countLive(sql: Queryable): Promise<ReadonlyMap<ReservationState, number>> {
  const rows = await sql<{ state: ReservationState; count: number }[]>`
    select state, count(*)::int as count from reservations
    where state in ('reserved', 'sent', 'pending_settlement') group by state`;
  return new Map(rows.map(({ state, count }) => [state, count]));
}

/** Sums the signed payments that the vendor has answered and the chain has not decided yet. */
export async function sumPending(sql: Queryable, agentId: number): Promise<bigint> {
  const [row] = await sql<{ raw: bigint }[]>`
    select coalesce(sum(value_raw), 0)::bigint as raw from reservations
    where agent_id = ${agentId} and state = 'pending_settlement'`;
  return row?.raw ?? 0n;
}

const reservationOf = (row: Row): Reservation => ({
  nonce: row.nonce,
  holdId: row.hold_id,
  agentId: row.agent_id,
  keyId: row.key_id,
  keyRootId: row.key_root_id,
  wallet: row.wallet,
  payee: row.payee,
  valueRaw: row.value_raw,
  validBefore: Number(row.valid_before),
  targetUrl: row.target_url,
  targetHost: row.target_host,
  method: row.method,
  taskId: row.task_id,
  actionId: row.action_id,
  customerId: row.customer_id,
  state: row.state,
  refused: row.refused,
  txHash: row.tx_hash,
  responseStatusCode: row.response_status_code,
  latencyMs: row.latency_ms,
  reservedMs: row.reserved_at.getTime(),
  sentMs: row.sent_at?.getTime() ?? null,
  decidedMs: row.decided_at?.getTime() ?? null,
  isCorrected: row.is_corrected,
});
