import { assert } from '../../kernel/assert.ts';
import type { Queryable, Sql } from '../../platform/postgres/sql.ts';
import type { Policy } from '../../policy/policy.ts';
import type { AgentBatch, AgentBatchOutcome, BalanceState } from '../rules/change.ts';
import type { Node } from '../rules/node.ts';
import type { Rules } from '../rules/rules.ts';
import { applyBatch, type StateRow, stateOf } from './apply-batch.ts';
import { type PolicyJson, policyOf } from './policy-row.ts';

/** An agent's money and rules, read as of one instant. */
export type Balance = { readonly state: BalanceState; readonly rules: Rules };

/** Reads and writes the state of the balance actors in the database. */
export interface BalanceStore {
  /** Resolves to undefined when the agent does not exist. */
  load(agentId: number): Promise<Balance | undefined>;
  /**
   * Applies batches, in ascending order of their agents, in one commit. Resolves to one outcome for each batch. `resent` is
   * true when the same batches were sent before and their outcome is unknown; a batch that is refused now will not be applied
   * by the earlier call.
   */
  apply(parts: readonly AgentBatch[], resent: boolean): Promise<readonly AgentBatchOutcome[]>;
  /** Decides and applies a batch in one short sql transaction that locks the agent's row. */
  fenced(agentId: number, decide: (balance: Balance) => AgentBatch): Promise<AgentBatchOutcome>;
}

/** Creates the store. `sql` is a pool opened `BY_KEY`. */
export function createBalanceStore(deps: { readonly sql: Sql; readonly node: Node }): BalanceStore {
  const { sql, node } = deps;
  return {
    load: (agentId) => findBalance(sql, agentId),
    apply: (parts, resent) => applyBatch(sql, node, parts, resent),
    fenced: (agentId, decide) =>
      sql.begin(async (tx): Promise<AgentBatchOutcome> => {
        const balance = await lockBalance(tx, agentId);
        if (balance === undefined) return { kind: 'agent_unknown' };
        const [outcome] = await applyBatch(tx, node, [decide(balance)]);
        assert(outcome !== undefined, 'a part is answered for a part');
        return outcome;
      }),
  };
}

type Row = StateRow & {
  account_id: string;
  wallet_address: string | null;
  status: Rules['status'];
  operator_expiry: bigint | null;
  allowlist_mode: Rules['allowlistMode'];
  keys: number[];
  policies: PolicyJson[];
  quality: { seconds: number; bps: number | null }[];
  thresholds: Rules['thresholds'];
};

const columns = (
  sql: Queryable,
) => sql`f.version, f.rules_version, f.spendable_raw as spendable, f.held_raw as held,
      f.credited_raw as credited, f.consumed_raw as consumed, f.wallet_raw as wallet,
      f.promised_raw as promised, f.counters,
      a.account_id, a.wallet_address, a.status, a.allowlist_mode,
      case when a.funding_mode = 'credit_line' then a.operator_expiry end as operator_expiry,
      array(select k.id from agent_keys k where k.agent_id = f.agent_id and k.revoked_at is null) as keys,
      coalesce(own.policies, '[]') as policies, coalesce(own.quality, '[]') as quality,
      (select coalesce(json_agg(json_build_object('id', t.id, 'thresholdBps', t.threshold_bps,
        'webhookId', t.webhook_id) order by t.id), '[]')
        from credit_thresholds t where t.agent_id = f.agent_id) as thresholds
    from agent_funds f join agents a on a.id = f.agent_id,
    lateral living_policies(f.agent_id, f.account_id) as own`;

/** Returns an agent's balance; undefined when the agent does not exist. */
export async function findBalance(sql: Queryable, agentId: number): Promise<Balance | undefined> {
  const [row] = await sql<Row[]>`select ${columns(sql)} where f.agent_id = ${agentId}`;
  return row === undefined ? undefined : balanceOf(row);
}

/** Returns the balances of several agents by their ids. Agents that do not exist are absent. */
export async function findBalances(
  sql: Queryable,
  agentIds: readonly number[],
): Promise<ReadonlyMap<number, Balance>> {
  const rows = await sql<(Row & { agent_id: number })[]>`
    select f.agent_id, ${columns(sql)} where f.agent_id = any (${agentIds.map(String)}::integer[])`;
  return new Map(rows.map((row) => [row.agent_id, balanceOf(row)]));
}

/** Locks the agent's row until the sql transaction ends, so that no other process can decide meanwhile. */
async function lockBalance(tx: Queryable, agentId: number): Promise<Balance | undefined> {
  // Both statements are sent at once, one after the other. The second reads after the first has locked the row, so that rules
  // and money are of one instant. A statement is sent when it is awaited, or by `execute`.
  const locked =
    tx`select 1 from agent_funds where agent_id = ${agentId} for no key update`.execute();
  const [balance] = await Promise.all([findBalance(tx, agentId), locked]);
  return balance;
}

const balanceOf = (row: Row): Balance => ({
  state: stateOf(row),
  rules: {
    status: row.status,
    accountId: row.account_id,
    walletAddress: row.wallet_address,
    operatorExpirySec: row.operator_expiry === null ? null : Number(row.operator_expiry),
    keyIds: new Set(row.keys),
    allowlistMode: row.allowlist_mode,
    ...splitPolicies(row.policies.map(policyOf)),
    quality: new Map(row.quality.map(({ seconds, bps }) => [seconds, bps])),
    thresholds: row.thresholds,
  },
});

const splitPolicies = (policies: readonly Policy[]) => ({
  policies: policies.filter((policy) => policy.agentId !== null),
  teamPolicies: policies.filter((policy) => policy.agentId === null),
});
