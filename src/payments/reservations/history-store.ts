import type { ReservationState } from '../../../machines/reservation.ts';
import type { Queryable } from '../../platform/postgres/sql.ts';
import type { ProxyCallRow } from './history.ts';

type Row = {
  id: bigint;
  nonce: string | null;
  state: ReservationState | null;
  value_raw: bigint | null;
  payee: string | null;
  tx_hash: string | null;
  is_corrected: boolean;
  key_id: number | null;
  target_url: string;
  method: string;
  response_status_code: number | null;
  latency_ms: number | null;
  task_id: string | null;
  action_id: string | null;
  created_at: Date;
  updated_at: Date;
  charged_raw: bigint;
};

/**
 * Returns an agent's calls through the proxy, paid and free, newest first, from before an id. Reads each table backwards by its
 * index, no further than the page.
 */
export async function findProxyCalls(
  sql: Queryable,
  agentId: number,
  page: { readonly beforeId: number; readonly limit: number },
): Promise<ProxyCallRow[]> {
  const { beforeId, limit } = page;
  const rows = await sql<Row[]>`
    (select r.id, r.nonce, r.state, r.value_raw, r.payee, r.tx_hash, r.corrected_at is not null as is_corrected,
       r.key_id, r.target_url, r.method, r.response_status_code, r.latency_ms, r.task_id, r.action_id,
       r.reserved_at as created_at,
       greatest(r.reserved_at, r.sent_at, r.decided_at, r.corrected_at) as updated_at, 0::bigint as charged_raw
     from reservations r where r.agent_id = ${agentId} and r.id < ${String(beforeId)}::bigint
     order by r.id desc limit ${limit})
    union all
    (select p.id, null, null, null, null, null, false,
       p.key_id, p.target_url, p.method, p.response_status_code, p.latency_ms, p.task_id, p.action_id,
       p.created_at, p.created_at, p.cost_raw
     from proxy_passthroughs p where p.agent_id = ${agentId} and p.id < ${String(beforeId)}::bigint
     order by p.id desc limit ${limit})
    order by id desc limit ${limit}`;
  return rows.map(callOf);
}

const callOf = (row: Row): ProxyCallRow => ({
  id: Number(row.id),
  payment:
    row.nonce === null || row.state === null || row.value_raw === null || row.payee === null
      ? null
      : {
          nonce: row.nonce,
          state: row.state,
          valueRaw: row.value_raw,
          payee: row.payee,
          txHash: row.tx_hash,
          isCorrected: row.is_corrected,
        },
  keyId: row.key_id,
  targetUrl: row.target_url,
  method: row.method,
  responseStatusCode: row.response_status_code,
  latencyMs: row.latency_ms,
  taskId: row.task_id,
  actionId: row.action_id,
  createdMs: row.created_at.getTime(),
  updatedMs: row.updated_at.getTime(),
  chargedRaw: row.charged_raw,
});
