import type { Queryable } from '../../platform/postgres/sql.ts';
import { REPORT_LIMITS } from '../limits.ts';
import { type ActivityEvent, type ActivitySource, RANK } from './activity-event.ts';
import { type Found, micros, type Wanted, within } from './wanted-store.ts';

type Scanned = { readonly isWanted: boolean; readonly isLast: boolean; readonly atMicros: bigint };

/** Returns the number of rows to read, and the conditions that pick the rows of a key from them. */
function scanOf(sql: Queryable, { keyId, limit }: Wanted) {
  if (keyId === undefined) {
    return { rows: limit, isWanted: sql`true`, isLast: sql`false`, picked: sql`true` };
  }
  const rows = REPORT_LIMITS.activity.scanned;
  return {
    rows,
    isWanted: sql`x.key_id is not distinct from ${keyId}::int`,
    isLast: sql`x.place = ${rows}`,
    picked: sql`(x.key_id = ${keyId} or x.place = ${rows})`,
  };
}

const foundIn = <R extends Scanned & { readonly id: bigint | string }>(
  rows: readonly R[],
  source: ActivitySource,
  eventOf: (row: R) => ActivityEvent,
): Found => {
  const last = rows.find(({ isLast }) => isLast);
  return {
    events: rows.filter(({ isWanted }) => isWanted).map(eventOf),
    readTo: last && { atMicros: last.atMicros, rank: RANK[source], id: String(last.id) },
  };
};

type Tags = {
  readonly keyId: number | null;
  readonly method: string;
  readonly targetUrl: string;
  readonly taskId: string | null;
  readonly actionId: string | null;
  readonly customerId: string | null;
  readonly responseStatusCode: number | null;
  readonly latencyMs: number | null;
};

type ChargeRow = Scanned &
  Tags & {
    readonly id: bigint;
    readonly agentId: number;
    readonly status: 'success' | 'failed';
    readonly costRaw: bigint;
    readonly targetHost: string;
    readonly model: string | null;
    readonly rail: string | null;
    readonly sessionId: string | null;
    readonly payee: string | null;
    readonly nonce: string | null;
    readonly txHash: string | null;
  };

const tags = (sql: Queryable) => sql`x.key_id as "keyId", x.method, x.target_url as "targetUrl",
  x.task_id as "taskId", x.action_id as "actionId", x.customer_id as "customerId",
  x.response_status_code as "responseStatusCode", x.latency_ms as "latencyMs"`;

/** Reads charges. A charge of a payment on the chain has the transaction of the payment. */
export async function findCharges(sql: Queryable, wanted: Wanted): Promise<Found> {
  const scan = scanOf(sql, wanted);
  const id = sql`c.id < ${wanted.before?.id ?? '0'}::bigint`;
  const rows = await sql<ChargeRow[]>`
    select x.id, x.agent_id as "agentId", ${micros(sql, 'x.created_at')} as "atMicros",
      ${scan.isWanted} as "isWanted", ${scan.isLast} as "isLast", x.status, x.cost_raw as "costRaw",
      x.target_host as "targetHost", x.model, x.rail, x.session_id as "sessionId", x.payee,
      r.nonce, r.tx_hash as "txHash", ${tags(sql)}
    from (
      select l.*, row_number() over (order by l.created_at desc, l.id desc) as place
      from unnest(${wanted.agentIds as number[]}::int[]) as a(id)
      cross join lateral (
        select * from charges c
        where c.agent_id = a.id and ${within(sql, wanted, { at: 'c.created_at', id, source: 'charge' })}
        order by c.created_at desc, c.id desc limit ${scan.rows}) l
    ) x
    left join reservations r on x.payee is not null and r.hold_id = substr(x.posting_id, 9)
    where x.place <= ${scan.rows} and ${scan.picked}
    order by x.created_at desc, x.id desc limit ${wanted.limit}`;
  return foundIn(rows, 'charge', chargeEvent);
}

const chargeEvent = (row: ChargeRow): ActivityEvent => ({
  source: 'charge',
  rowId: String(row.id),
  type: 'x402_call',
  agentId: row.agentId,
  atMicros: row.atMicros,
  status: row.status,
  summary:
    row.model === null ? `${row.method} ${row.targetHost}` : `${row.model} at ${row.targetHost}`,
  amountRaw: row.costRaw,
  txHash: row.txHash,
  details: {
    ...tagsOf(row),
    model: row.model,
    rail: row.rail,
    sessionId: row.sessionId,
    payee: row.payee,
    nonce: row.nonce,
  },
});

const tagsOf = (row: Tags) => ({
  keyId: row.keyId,
  method: row.method,
  targetUrl: row.targetUrl,
  taskId: row.taskId,
  actionId: row.actionId,
  customerId: row.customerId,
  responseStatusCode: row.responseStatusCode,
  latencyMs: row.latencyMs,
});

type ReservationRow = Scanned &
  Tags & {
    readonly id: bigint;
    readonly agentId: number;
    readonly isPending: boolean;
    readonly valueRaw: bigint;
    readonly targetHost: string;
    readonly payee: string;
    readonly nonce: string;
    readonly state: string;
    readonly txHash: string | null;
  };

/** Reads payments to vendors that have no charge: the chain has not decided them, or they were never paid. */
export async function findUnpaid(sql: Queryable, wanted: Wanted): Promise<Found> {
  const scan = scanOf(sql, wanted);
  const id = sql`r.id < ${wanted.before?.id ?? '0'}::bigint`;
  const rows = await sql<ReservationRow[]>`
    select x.id, x.agent_id as "agentId", ${micros(sql, 'x.reserved_at')} as "atMicros",
      ${scan.isWanted} as "isWanted", ${scan.isLast} as "isLast", x.value_raw as "valueRaw",
      x.state = 'pending_settlement' as "isPending", x.state, x.target_host as "targetHost", x.payee,
      x.nonce, x.tx_hash as "txHash", ${tags(sql)}
    from (
      select l.*, row_number() over (order by l.reserved_at desc, l.id desc) as place
      from unnest(${wanted.agentIds as number[]}::int[]) as a(id)
      cross join lateral (
        select * from reservations r
        where r.agent_id = a.id and r.corrected_at is null
          and r.state in ('pending_settlement', 'expired_unsettled', 'payment_rejected', 'released')
          and ${within(sql, wanted, { at: 'r.reserved_at', id, source: 'reservation' })}
        order by r.reserved_at desc, r.id desc limit ${scan.rows}) l
    ) x
    where x.place <= ${scan.rows} and ${scan.picked}
    order by x.reserved_at desc, x.id desc limit ${wanted.limit}`;
  return foundIn(rows, 'reservation', reservationEvent);
}

const reservationEvent = (row: ReservationRow): ActivityEvent => ({
  source: 'reservation',
  rowId: String(row.id),
  type: 'x402_call',
  agentId: row.agentId,
  atMicros: row.atMicros,
  status: row.isPending ? 'pending' : 'failed',
  summary: `${row.method} ${row.targetHost}`,
  amountRaw: row.valueRaw,
  txHash: row.txHash,
  details: { ...tagsOf(row), payee: row.payee, nonce: row.nonce, state: row.state },
});

type PlatformRow = {
  readonly id: string;
  readonly agentId: number;
  readonly atMicros: bigint;
  readonly provider: string;
  readonly host: string;
  readonly costRaw: bigint;
  readonly taskId: string | null;
  readonly customerId: string | null;
  readonly durationSeconds: number | null;
};

/** Reads calls that voice platforms made and were paid for. */
export async function findPlatformCalls(sql: Queryable, wanted: Wanted): Promise<Found> {
  const key = sql`(p.provider || ':' || p.call_id) collate "C"`;
  const id = sql`${key} < ${wanted.before?.id ?? ''}`;
  const rows = await sql<PlatformRow[]>`
    select l.id, l.agent_id as "agentId", ${micros(sql, 'l.counted_at')} as "atMicros", l.provider,
      l.host, l.cost_raw as "costRaw", l.task_id as "taskId", l.customer_id as "customerId",
      l.duration_seconds as "durationSeconds"
    from unnest(${wanted.agentIds as number[]}::int[]) as a(id)
    cross join lateral (
      select p.*, ${key} as id from platform_calls p
      where p.agent_id = a.id
        and ${within(sql, wanted, { at: 'p.counted_at', id, source: 'platform' })}
      order by p.counted_at desc, ${key} desc limit ${wanted.limit}) l
    order by l.counted_at desc, l.id desc limit ${wanted.limit}`;
  return { events: rows.map(platformEvent), readTo: undefined };
}

const platformEvent = (row: PlatformRow): ActivityEvent => ({
  source: 'platform',
  rowId: row.id,
  type: 'x402_call',
  agentId: row.agentId,
  atMicros: row.atMicros,
  status: 'success',
  summary: `A call of ${row.provider}`,
  amountRaw: row.costRaw,
  txHash: null,
  details: {
    host: row.host,
    taskId: row.taskId,
    customerId: row.customerId,
    durationSeconds: row.durationSeconds,
  },
});
