import type { Sql, SqlTransaction } from '../../src/platform/postgres/sql.ts';
import { RECONCILED_SOURCES } from '../../src/reports/spend-source.ts';

/** One row that counts, as the test reads it: nothing of it is shared with the reports. */
export type ReportRow = {
  readonly agent: string;
  readonly day: string;
  readonly source: string;
  readonly host: string;
  readonly customer: string;
  readonly task: string;
  readonly calls: number;
  readonly failed: number;
  readonly pending: number;
  readonly costRaw: bigint;
  readonly latencyMs: number | null;
};

type Charge = {
  agent_id: number;
  at: Date;
  target_url: string;
  target_host: string;
  status: string;
  rail: string | null;
  session_id: string | null;
  customer_id: string | null;
  task_id: string | null;
  cost_raw: bigint;
  latency_ms: number | null;
};

const utcDay = (at: Date): string => at.toISOString().slice(0, 10);

function sourceOf({ rail, session_id: session, target_url: url }: Charge): string {
  if (rail === 'byok') return 'byok';
  if (url.startsWith('phone://')) return 'phone';
  if (session !== null) return 'streaming';
  return url.startsWith('gateway://') ? 'gateway' : 'proxy';
}

/** Reads all rows of some agents that reports sum: charges, uploaded events and pending payments. */
export async function readRows(
  sql: Sql | SqlTransaction,
  agentIds: readonly number[],
): Promise<ReportRow[]> {
  const ids = agentIds.map(String);
  const charges = await sql<Charge[]>`
    select *, created_at as at from charges where agent_id = any(${ids}::integer[])`;
  const events = await sql<{ agent_id: number; at: Date; cost_raw: bigint }[]>`
    select agent_id, at, cost_raw from reconciled_events where agent_id = any(${ids}::integer[])`;
  const pending = await sql<(Charge & { value_raw: bigint })[]>`
    select *, reserved_at as at from reservations
    where agent_id = any(${ids}::integer[]) and state = 'pending_settlement'`;
  return [
    ...charges.map((row) => ({
      ...taggedOf(row),
      source: sourceOf(row),
      failed: row.status === 'failed' ? 1 : 0,
      pending: 0,
      costRaw: row.cost_raw,
      // The latency of a session or a call is its duration.
      latencyMs:
        row.session_id !== null || row.target_url.startsWith('phone://') ? null : row.latency_ms,
    })),
    ...events.map((row) => ({
      agent: String(row.agent_id),
      day: utcDay(row.at),
      source: 'guard',
      host: '',
      customer: '',
      task: '',
      calls: 1,
      failed: 0,
      pending: 0,
      costRaw: row.cost_raw,
      latencyMs: null,
    })),
    ...pending.map((row) => ({
      ...taggedOf(row),
      source: 'proxy',
      failed: 0,
      pending: 1,
      costRaw: row.value_raw,
      latencyMs: null,
    })),
  ];
}

const taggedOf = (row: Charge) => ({
  agent: String(row.agent_id),
  day: utcDay(row.at),
  host: row.target_host,
  customer: row.customer_id ?? '',
  task: row.task_id ?? '',
  calls: 1,
});

/** Sums rows in the form of a report. */
export function sumRows(rows: readonly ReportRow[]) {
  const sum = <T>(of: (row: ReportRow) => bigint | number, as: (total: bigint) => T) =>
    as(rows.reduce((total, row) => total + BigInt(of(row)), 0n));
  const raw = (total: bigint) => total;
  const isReconciled = ({ source }: ReportRow) =>
    (RECONCILED as readonly string[]).includes(source);
  return {
    calls: sum(({ calls }) => calls, Number),
    failed: sum(({ failed }) => failed, Number),
    pending: sum(({ pending }) => pending, Number),
    costRaw: sum(({ costRaw }) => costRaw, raw),
    pendingRaw: sum(({ costRaw, pending }) => (pending ? costRaw : 0n), raw),
    reconciledCalls: sum((row) => (isReconciled(row) ? row.calls : 0), Number),
    reconciledRaw: sum((row) => (isReconciled(row) ? row.costRaw : 0n), raw),
  };
}

const RECONCILED = RECONCILED_SOURCES;
