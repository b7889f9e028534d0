import type { Utilized } from '../../ledger/rules/spend-events.ts';
import type { Queryable } from '../../platform/postgres/sql.ts';

/** Share of an agent's funding. Crossing the share writes an event. */
export type CreditThreshold = {
  readonly id: number;
  readonly thresholdBps: number;
  readonly lastState: 'below' | 'above';
  readonly lastFiredAt: Date | null;
  /** The only webhook that receives the crossing. Null: every subscribed webhook. */
  readonly webhookId: number | null;
};

type Row = {
  id: number;
  threshold_bps: number;
  last_state: CreditThreshold['lastState'];
  last_fired_at: Date | null;
  webhook_id: number | null;
};

const toThreshold = (row: Row): CreditThreshold => ({
  id: row.id,
  thresholdBps: row.threshold_bps,
  lastState: row.last_state,
  lastFiredAt: row.last_fired_at,
  webhookId: row.webhook_id,
});

/** Returns the agent's thresholds by id. `SPEND_LIMITS.awareness.thresholdsPerAgent` bounds their number. */
export async function findThresholds(sql: Queryable, agentId: number): Promise<CreditThreshold[]> {
  const rows = await sql<Row[]>`
    select * from credit_thresholds where agent_id = ${agentId} order by id`;
  return rows.map(toThreshold);
}

/** Inserts a threshold. Resolves to undefined when the agent's account has no such webhook. */
export async function insertThreshold(
  tx: Queryable,
  agentId: number,
  threshold: Pick<CreditThreshold, 'thresholdBps' | 'lastState' | 'webhookId'>,
): Promise<CreditThreshold | undefined> {
  const { lastState, thresholdBps, webhookId } = threshold;
  const [row] = await tx<Row[]>`
    insert into credit_thresholds (agent_id, threshold_bps, last_state, webhook_id)
    select a.id, ${thresholdBps}, ${lastState}, ${webhookId} from agents a
    where a.id = ${agentId} and (${webhookId}::int is null or exists (
      select 1 from webhooks w where w.id = ${webhookId} and w.account_id = a.account_id))
    returning *`;
  return row && toThreshold(row);
}

/** Deletes a threshold. Returns true when it existed. */
export async function deleteThreshold(
  tx: Queryable,
  agentId: number,
  thresholdId: number,
): Promise<boolean> {
  const rows = await tx`
    delete from credit_thresholds where id = ${thresholdId} and agent_id = ${agentId}
    returning id`;
  return rows.length > 0;
}

/** Returns the agent's credited, consumed and held amounts, and locks the row of its balance. */
export async function lockFunding(tx: Queryable, agentId: number): Promise<Utilized | undefined> {
  const [row] = await tx<Utilized[]>`
    select credited_raw as "creditedRaw", consumed_raw as "consumedRaw", held_raw as "heldRaw"
    from agent_funds where agent_id = ${agentId} for no key update`;
  return row;
}
