import type { Queryable } from '../../platform/postgres/sql.ts';
import type { AgentStatus } from '../agents/agent.ts';
import type { AgentKey, Permissions, PromptCaching } from './key.ts';

type Row = {
  id: number;
  root_id: number | null;
  agent_id: number;
  prefix: string;
  label: string | null;
  permissions: Permissions;
  prompt_caching: PromptCaching;
  created_at: Date;
  last_used_at: Date | null;
};

const toKey = (row: Row): AgentKey => ({
  id: row.id,
  rootId: row.root_id ?? row.id,
  prefix: row.prefix,
  label: row.label,
  permissions: row.permissions,
  promptCaching: row.prompt_caching,
  createdAt: row.created_at,
  lastUsedAt: row.last_used_at,
});

export type NewAgentKey = {
  readonly agentId: number;
  readonly digest: string;
  readonly prefix: string;
  readonly label: string | null;
  readonly permissions: Permissions;
  readonly promptCaching: PromptCaching;
  readonly rotatedFrom: number | null;
  /** Wallet of the member who issues the key. */
  readonly createdBy: string;
  /** Id of the first key in the chain of rotations. Null: the new key is the first. */
  readonly rootId: number | null;
};

export async function insertAgentKey(tx: Queryable, key: NewAgentKey): Promise<AgentKey> {
  const [row] = await tx<Row[]>`
    insert into agent_keys (agent_id, digest, prefix, label, permissions, prompt_caching,
      rotated_from, root_id, created_by)
    values (${key.agentId}, ${key.digest}, ${key.prefix}, ${key.label}, ${key.permissions},
      ${key.promptCaching}, ${key.rotatedFrom}, ${key.rootId}, ${key.createdBy})
    returning *
  `;
  return toKey(row as Row);
}

/** Returns the agent's keys that work, oldest first. The cap on keys bounds their number. */
export async function findAgentKeys(sql: Queryable, agentId: number): Promise<AgentKey[]> {
  const rows = await sql<Row[]>`
    select * from agent_keys where agent_id = ${agentId} and revoked_at is null order by id
  `;
  return rows.map(toKey);
}

/** Revokes a key of the agent. Undefined when the agent has no such key or it was revoked before. */
export async function revokeAgentKey(
  tx: Queryable,
  agentId: number,
  keyId: number,
  now: Date,
): Promise<AgentKey | undefined> {
  const [row] = await tx<Row[]>`
    update agent_keys set revoked_at = ${now}
    where id = ${keyId} and agent_id = ${agentId} and revoked_at is null
    returning *
  `;
  return row && toKey(row);
}

export type KnownAgentKey = {
  readonly keyId: number;
  /** Id of the first key in the chain of rotations. */
  readonly keyRootId: number;
  readonly agentId: number;
  readonly accountId: string;
  readonly permissions: Permissions;
  readonly promptCaching: PromptCaching;
  readonly status: AgentStatus;
  /** True when the agent's balance, free or held, is above 0. */
  readonly hasMoney: boolean;
  /** End of a credit line's delegation in Unix seconds. Null for a prepaid agent, which has no delegation. */
  readonly operatorExpiry: number | null;
};

/** Returns the agent of a key, whatever the agent's status. Undefined when the key is unknown or revoked. */
export async function findAgentByDigest(
  sql: Queryable,
  digest: string,
): Promise<KnownAgentKey | undefined> {
  const [row] = await sql<
    {
      id: number;
      root_id: number;
      agent_id: number;
      account_id: string;
      permissions: Permissions;
      prompt_caching: PromptCaching;
      status: AgentStatus;
      has_money: boolean;
      operator_expiry: bigint | null;
    }[]
  >`
    select k.id, coalesce(k.root_id, k.id) as root_id, k.agent_id, a.account_id, k.permissions,
      k.prompt_caching, a.status, coalesce(f.spendable_raw + f.held_raw > 0, false) as has_money,
      case when a.funding_mode = 'credit_line' then a.operator_expiry end as operator_expiry
    from agent_keys k join agents a on a.id = k.agent_id
      left join agent_funds f on f.agent_id = a.id
    where k.digest = ${digest} and k.revoked_at is null
  `;
  if (row === undefined) return undefined;
  return {
    keyId: row.id,
    keyRootId: row.root_id,
    agentId: row.agent_id,
    accountId: row.account_id,
    permissions: row.permissions,
    promptCaching: row.prompt_caching,
    status: row.status,
    hasMoney: row.has_money,
    operatorExpiry: row.operator_expiry === null ? null : Number(row.operator_expiry),
  };
}
