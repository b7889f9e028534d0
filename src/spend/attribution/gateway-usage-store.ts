import type { Queryable } from '../../platform/postgres/sql.ts';
import { SPEND_LIMITS } from '../limits.ts';

/** Calls and cost of an agent's model purchases. */
export type GatewayUsage = {
  readonly totalCalls: number;
  readonly totalCostRaw: bigint;
  readonly byModel: readonly ModelUsage[];
};

export type ModelUsage = {
  readonly model: string;
  readonly rail: string;
  readonly calls: number;
  readonly costRaw: bigint;
};

type Row = ModelUsage & { readonly totalCalls: number; readonly totalCostRaw: bigint };

/** Returns an agent's totals over all days, by model in descending order of cost. A paid request has no model. */
export async function findGatewayUsage(sql: Queryable, agentId: number): Promise<GatewayUsage> {
  const rows = await sql<Row[]>`
    select model, rail, sum(calls)::float8 as calls, sum(cost_raw)::bigint as "costRaw",
      (sum(sum(calls)) over ())::float8 as "totalCalls",
      (sum(sum(cost_raw)) over ())::bigint as "totalCostRaw"
    from spend_totals where agent_id = ${agentId} and model <> ''
    group by model, rail
    order by sum(cost_raw) desc, model, rail
    limit ${SPEND_LIMITS.report.models}
  `;
  return {
    totalCalls: rows[0]?.totalCalls ?? 0,
    totalCostRaw: rows[0]?.totalCostRaw ?? 0n,
    byModel: rows.map(({ model, rail, calls, costRaw }) => ({ model, rail, calls, costRaw })),
  };
}
