import type { Sql } from '../../src/platform/postgres/sql.ts';
import { chanceOf } from './unit-vectors.ts';

/** One amount of an agent, whichever table it stands in. */
export type SpendRow = {
  readonly agentId: number;
  readonly at: Date;
  readonly source: 'proxy' | 'gateway' | 'byok' | 'phone' | 'streaming' | 'guard' | 'vapi';
  readonly host: string;
  readonly task: string;
  readonly customer: string;
  readonly failed: boolean;
  readonly pending: boolean;
  readonly costRaw: bigint;
};

const HOUR_MS = 3_600_000;
const HOSTS = ['a.example', 'b.example', 'c.example', 'd.example'];
const SOURCES = ['proxy', 'gateway', 'byok', 'phone', 'streaming', 'guard', 'vapi'] as const;

/** Rows that look like chance, over the last 40 days up to `nowMs`; ten hosts, some of them rare. */
export function randomRows(
  seed: number,
  {
    agentIds,
    count,
    nowMs,
  }: { readonly agentIds: number[]; readonly count: number; readonly nowMs: number },
): SpendRow[] {
  const chance = chanceOf(seed);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(chance() * list.length)] as T;
  return Array.from({ length: count }, (_, nth) => {
    const source = pick(SOURCES);
    const pending = source === 'proxy' && chance() < 0.2;
    return {
      agentId: pick(agentIds),
      // Whole milliseconds, as a Date has them.
      at: new Date(nowMs - 1 - Math.floor(chance() * 40 * 24 * HOUR_MS)),
      source,
      host: source === 'guard' ? '' : chance() < 0.2 ? `rare-${nth % 6}.example` : pick(HOSTS),
      task: source === 'guard' || chance() < 0.3 ? '' : `task-${Math.floor(chance() * 70)}`,
      customer: source === 'guard' || chance() < 0.5 ? '' : pick(['acme', 'zeta', '=cmd']),
      failed: !pending && source !== 'guard' && source !== 'vapi' && chance() < 0.1,
      pending,
      costRaw: chance() < 0.1 ? 0n : BigInt(Math.floor(chance() * 1e7)),
    };
  });
}

const urlOf = ({ host, source }: SpendRow): string => {
  if (source === 'phone') return `phone://${host}/call`;
  return source === 'proxy' ? `https://${host}/x` : `gateway://${host}/model`;
};

/** Writes the rows into the tables that they come from. */
export async function writeRows(sql: Sql, rows: readonly SpendRow[]): Promise<void> {
  let nth = 0;
  for (const row of rows) {
    nth += 1;
    if (row.pending) {
      const nonce = `0x${String(nth).padStart(64, '0')}`;
      await sql`insert into reservations (nonce, hold_id, agent_id, wallet, payee, value_raw,
          valid_before, signature, x402_version, network, target_url, target_host, method, task_id,
          customer_id, state, reserved_at)
        values (${nonce}, ${`hold-${nth}`}, ${row.agentId}, '0xw', '0xp', ${String(row.costRaw)},
          0, '0x', 1, 'base', ${urlOf(row)}, ${row.host}, 'GET', ${row.task || null},
          ${row.customer || null}, 'pending_settlement', ${row.at})`;
    } else if (row.source === 'guard') {
      await sql`insert into reconciled_events (agent_id, digest, at, kind, model_or_tool, cost_raw)
        values (${row.agentId}, ${`d-${nth}`}, ${row.at}, 'llm', 'm', ${String(row.costRaw)})`;
      await sql`insert into reconciled_changes (agent_id, day, source, host, customer, task, calls,
          cost_raw)
        values (${row.agentId}, (${row.at}::timestamptz at time zone 'UTC')::date, 'guard', '', '', '', 1,
          ${String(row.costRaw)})`;
    } else if (row.source === 'vapi') {
      const { customer, host, task } = row;
      await sql`insert into platform_calls (agent_id, provider, call_id, revision, cost_raw, rank, seen,
          told, host, task_id, customer_id, counted_at)
        values (${row.agentId}, 'vapi', ${`call-${nth}`}, 1, ${String(row.costRaw)}, 0, '{}', '{}',
          ${host}, ${task || null}, ${customer || null}, ${row.at})`;
      await sql`insert into reconciled_changes (agent_id, day, source, host, customer, task, calls,
          cost_raw)
        values (${row.agentId}, (${row.at}::timestamptz at time zone 'UTC')::date, 'vapi', ${host},
          ${customer}, ${task}, 1, ${String(row.costRaw)})`;
    } else {
      await sql`insert into charges (agent_id, posting_id, target_url, target_host, method, status,
          cost_raw, rail, usage, task_id, customer_id, session_id, latency_ms, created_at)
        values (${row.agentId}, ${`resolve:r-${nth}`}, ${urlOf(row)}, ${row.host}, 'POST',
          ${row.failed ? 'failed' : 'success'}, ${String(row.costRaw)},
          ${row.source === 'byok' ? 'byok' : null}, '{}', ${row.task || null},
          ${row.customer || null}, ${row.source === 'streaming' ? `s-${nth}` : null}, ${nth % 900},
          ${row.at})`;
      await sql`insert into spend_totals (agent_id, day, model, rail, calls, failed, cost_raw)
        values (${row.agentId}, (${row.at}::timestamptz at time zone 'UTC')::date, '', '', 1,
          ${row.failed ? 1 : 0}, ${String(row.costRaw)})
        on conflict (agent_id, day, model, rail) do update set calls = spend_totals.calls + 1,
          failed = spend_totals.failed + excluded.failed,
          cost_raw = spend_totals.cost_raw + excluded.cost_raw`;
    }
  }
}

export const sumOf = (rows: readonly SpendRow[]): string =>
  String(rows.reduce((sum, { costRaw }) => sum + costRaw, 0n));

/** The sums of rows by a text of each, as decimal digits. */
export function sumsBy(
  rows: readonly SpendRow[],
  keyOf: (row: SpendRow) => string,
): Map<string, string> {
  const sums = new Map<string, bigint>();
  for (const row of rows) sums.set(keyOf(row), (sums.get(keyOf(row)) ?? 0n) + row.costRaw);
  return new Map([...sums].map(([key, sum]) => [key, String(sum)]));
}
