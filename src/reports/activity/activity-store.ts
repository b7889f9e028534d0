import type { Queryable } from '../../platform/postgres/sql.ts';
import { REPORT_LIMITS } from '../limits.ts';
import { type ActivityEvent, type ActivitySource, RANK } from './activity-event.ts';
import type { Position } from './page-cursor.ts';

/** Rows that are wanted of a source: of these agents, older than `before`, the newest `limit`. */
export type Wanted = {
  readonly agentIds: readonly number[];
  /** Only rows of this key. Undefined: rows of every key, and rows without a key. */
  readonly keyId: number | undefined;
  readonly sinceMicros: bigint | undefined;
  readonly untilMicros: bigint | undefined;
  readonly before: Position | undefined;
  readonly limit: number;
};

export type Found = {
  /** Events in their order, newest first. */
  readonly events: readonly ActivityEvent[];
  /** Last row that was read, when the search for a key's rows ended at `REPORT_LIMITS.activity.scanned` rows. */
  readonly readTo: Position | undefined;
};

type Fragment = ReturnType<typeof micros>;

const micros = (sql: Queryable, column: string) =>
  sql`(extract(epoch from ${sql(column)}) * 1000000)::bigint`;

const instant = (sql: Queryable, atMicros: bigint) =>
  sql`(timestamptz 'epoch' + ${String(atMicros)}::bigint * interval '1 microsecond')`;

/** Returns the condition for rows of the window that come after the cursor. */
function within(
  sql: Queryable,
  { before, sinceMicros, untilMicros }: Wanted,
  {
    at,
    id,
    source,
  }: { readonly at: string; readonly id: Fragment; readonly source: ActivitySource },
) {
  const time = sql(at);
  const since =
    sinceMicros === undefined ? sql`` : sql`and ${time} >= ${instant(sql, sinceMicros)}`;
  const until = untilMicros === undefined ? sql`` : sql`and ${time} < ${instant(sql, untilMicros)}`;
  if (before === undefined) return sql`true ${since} ${until}`;
  const bound = instant(sql, before.atMicros);
  const rank = RANK[source];
  if (rank > before.rank) return sql`${time} < ${bound} ${since} ${until}`;
  if (rank < before.rank) return sql`${time} <= ${bound} ${since} ${until}`;
  return sql`${time} <= ${bound} and (${time} < ${bound} or ${id}) ${since} ${until}`;
}

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
async function findCharges(sql: Queryable, wanted: Wanted): Promise<Found> {
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
async function findUnpaid(sql: Queryable, wanted: Wanted): Promise<Found> {
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

type CreditRow = {
  readonly id: string;
  readonly agentId: number;
  readonly atMicros: bigint;
  readonly code: string;
  readonly amountRaw: bigint;
};

/** Reads credits: deposits that the chain has shown, and credits by the operator. */
async function findCredits(sql: Queryable, wanted: Wanted): Promise<Found> {
  const id = sql`p.id < ${wanted.before?.id ?? ''} collate "C"`;
  const rows = await sql<CreditRow[]>`
    select l.id, l.agent_id as "agentId", ${micros(sql, 'l.at')} as "atMicros", l.code,
      l.asked_raw as "amountRaw"
    from unnest(${wanted.agentIds as number[]}::int[]) as a(id)
    cross join lateral (
      select * from postings p
      where p.agent_id = a.id and p.code in ('funding.deposit', 'funding.credit')
        and ${within(sql, wanted, { at: 'p.at', id, source: 'credit' })}
      order by p.at desc, p.id desc limit ${wanted.limit}) l
    order by l.at desc, l.id desc limit ${wanted.limit}`;
  return { events: rows.map(creditEvent), readTo: undefined };
}

function creditEvent(row: CreditRow): ActivityEvent {
  const reference = row.id.slice('credit:'.length);
  const isDeposit = row.code === 'funding.deposit';
  const [, txHash] = /^(?:deposit|vanished):(0x[0-9a-f]{64})\b/.exec(reference) ?? [];
  return {
    source: 'credit',
    rowId: row.id,
    type: 'transfer_deposit',
    agentId: row.agentId,
    atMicros: row.atMicros,
    status: 'success',
    summary: isDeposit ? 'USDC arrived in the wallet' : 'Credited by the operator',
    amountRaw: row.amountRaw,
    txHash: isDeposit ? (txHash ?? null) : null,
    details: { reference },
  };
}

type PayoutRow = {
  readonly id: string;
  readonly agentId: number;
  readonly atMicros: bigint;
  readonly isDone: boolean;
  readonly amountRaw: bigint;
  readonly payee: string;
  readonly txHash: string | null;
};

/** Reads payouts to the developer. A payout to the operator's treasury is no event of the account. */
async function findPayouts(sql: Queryable, wanted: Wanted): Promise<Found> {
  const id = sql`p.nonce < ${wanted.before?.id ?? ''} collate "C"`;
  const rows = await sql<PayoutRow[]>`
    select l.nonce as id, l.agent_id as "agentId", ${micros(sql, 'l.created_at')} as "atMicros",
      l.state = 'done' as "isDone", l.amount_raw as "amountRaw", l.payee, l.tx_hash as "txHash"
    from unnest(${wanted.agentIds as number[]}::int[]) as a(id)
    cross join lateral (
      select * from payouts p
      where p.agent_id = a.id and p.kind = 'close'
        and ${within(sql, wanted, { at: 'p.created_at', id, source: 'payout' })}
      order by p.created_at desc, p.nonce desc limit ${wanted.limit}) l
    order by l.created_at desc, l.nonce desc limit ${wanted.limit}`;
  return { events: rows.map(payoutEvent), readTo: undefined };
}

const payoutEvent = (row: PayoutRow): ActivityEvent => ({
  source: 'payout',
  rowId: row.id,
  type: 'transfer_withdrawal',
  agentId: row.agentId,
  atMicros: row.atMicros,
  status: row.isDone ? 'success' : 'pending',
  summary: 'Paid out to the developer at the close of the agent',
  amountRaw: row.amountRaw,
  txHash: row.txHash,
  details: { payee: row.payee },
});

/** Readers of the sources by the kind of activity that they have. Credits and payouts belong to no key. */
export const SOURCES = [
  { type: 'x402_call', hasKeys: true, find: findCharges },
  { type: 'x402_call', hasKeys: true, find: findUnpaid },
  { type: 'transfer_deposit', hasKeys: false, find: findCredits },
  { type: 'transfer_withdrawal', hasKeys: false, find: findPayouts },
] as const;
