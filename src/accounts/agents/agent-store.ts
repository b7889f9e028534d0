import type { Queryable } from '../../platform/postgres/sql.ts';
import { ACCOUNT_LIMITS } from '../limits.ts';
import type { Agent, AgentStatus, FundingMode } from './agent.ts';

type Row = {
  id: number;
  account_id: string;
  name: string;
  status: AgentStatus;
  suspended_reason: string | null;
  mode: string;
  funding_mode: FundingMode;
  wallet_address: string | null;
  borrow_limit_raw: bigint | null;
  max_rate_bps: number;
  expiry_seconds: number;
  operator_expiry: bigint | null;
  delegation_tx_hash: string | null;
  self_service_locked: boolean;
  session_limit_raw: bigint | null;
  session_started_at: Date | null;
  provision_attempts: number;
  provision_next_at: Date | null;
  created_at: Date;
  updated_at: Date;
  closed_at: Date | null;
};

const toAgent = (row: Row): Agent => ({
  id: row.id,
  accountId: row.account_id,
  name: row.name,
  status: row.status,
  suspendedReason: row.suspended_reason,
  mode: row.mode,
  fundingMode: row.funding_mode,
  walletAddress: row.wallet_address,
  borrowLimitRaw: row.borrow_limit_raw,
  maxRateBps: row.max_rate_bps,
  expirySeconds: row.expiry_seconds,
  operatorExpiry: row.operator_expiry === null ? null : Number(row.operator_expiry),
  delegationTxHash: row.delegation_tx_hash,
  selfServiceLocked: row.self_service_locked,
  session:
    row.session_limit_raw === null || row.session_started_at === null
      ? null
      : { limitRaw: row.session_limit_raw, startedAt: row.session_started_at },
  provisionAttempts: row.provision_attempts,
  provisionNextAt: row.provision_next_at,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
  closedAt: row.closed_at,
});

/** Columns of an agent's row, with its session limit, which is stored as a policy. */
const columns = (sql: Queryable) => sql`agents.*,
  (select p.limit_raw from policies p where p.agent_id = agents.id and p.kind = 'session'
    and p.revoked_at is null) as session_limit_raw,
  (select p.starts_at from policies p where p.agent_id = agents.id and p.kind = 'session'
    and p.revoked_at is null) as session_started_at`;

/** An agent's id. With an account, another account's agent reads as absent. */
export type AgentRef = { readonly agentId: number; readonly accountId?: string };

export async function findAgent(sql: Queryable, ref: AgentRef): Promise<Agent | undefined> {
  const [row] = await sql<Row[]>`
    select ${columns(sql)} from agents
    where id = ${ref.agentId} and account_id = coalesce(${ref.accountId ?? null}, account_id)
  `;
  return row && toAgent(row);
}

/**
 * Reads an agent like `findAgent`, and locks its row until the sql transaction ends, so that transactions that count the
 * agent's rows run one after another.
 */
export async function lockAgent(tx: Queryable, ref: AgentRef): Promise<Agent | undefined> {
  const [row] = await tx<Row[]>`
    select ${columns(tx)} from agents
    where id = ${ref.agentId} and account_id = coalesce(${ref.accountId ?? null}, account_id)
    for update
  `;
  return row && toAgent(row);
}

export async function findAgentByWallet(
  sql: Queryable,
  walletAddress: string,
): Promise<Agent | undefined> {
  const [row] = await sql<
    Row[]
  >`select ${columns(sql)} from agents where wallet_address = ${walletAddress}`;
  return row && toAgent(row);
}

/** Returns an account's agents: the open agents by id, then the latest closed agents. */
export async function findAgents(sql: Queryable, accountId: string): Promise<Agent[]> {
  const open = await sql<Row[]>`
    select ${columns(sql)} from agents where account_id = ${accountId} and status <> 'closed' order by id
  `;
  const closed = await sql<Row[]>`
    select ${columns(sql)} from agents where account_id = ${accountId} and status = 'closed'
    order by closed_at desc, id desc limit ${ACCOUNT_LIMITS.agent.closedListed}
  `;
  return [...open, ...closed].map(toAgent);
}

/** Returns a page of all agents by id, with one row more than `limit` when more agents follow. */
export async function findAllAgents(
  sql: Queryable,
  afterId: number,
  limit: number,
): Promise<Agent[]> {
  const rows = await sql<Row[]>`
    select ${columns(sql)} from agents where id > ${afterId} order by id limit ${limit + 1}
  `;
  return rows.map(toAgent);
}

export async function countOpenAgents(tx: Queryable, accountId: string): Promise<number> {
  const [row] = await tx<{ count: number }[]>`
    select count(*)::int as count from agents where account_id = ${accountId} and status <> 'closed'
  `;
  return row?.count ?? 0;
}

export type NewAgent = {
  readonly accountId: string;
  readonly name: string;
  readonly fundingMode: FundingMode;
  readonly borrowLimitRaw: bigint | null;
  readonly maxRateBps: number;
  readonly expirySeconds: number;
  /** Time before which no other process provisions the agent. */
  readonly provisionNextAt: Date;
};

/** Inserts an agent. Undefined when an open agent of the account already has this name. */
export async function insertAgent(tx: Queryable, agent: NewAgent): Promise<Agent | undefined> {
  const [row] = await tx<Row[]>`
    insert into agents (account_id, name, status, funding_mode, borrow_limit_raw, max_rate_bps,
      expiry_seconds, provision_next_at)
    values (${agent.accountId}, ${agent.name}, 'pending_delegation', ${agent.fundingMode},
      ${agent.borrowLimitRaw?.toString() ?? null}::bigint, ${agent.maxRateBps},
      ${agent.expirySeconds}, ${agent.provisionNextAt})
    on conflict (account_id, name) where status <> 'closed' do nothing
    returning ${columns(tx)}
  `;
  return row && toAgent(row);
}

/** Changes the status of an agent that was read before. Undefined when the status has changed since it was read. */
export async function saveStatus(
  tx: Queryable,
  agent: Agent,
  to: 'active' | 'suspended' | 'closed',
  suspendedReason: string | null,
  now: Date,
): Promise<Agent | undefined> {
  const [row] = await tx<Row[]>`
    update agents set status = ${to}, suspended_reason = ${suspendedReason}, updated_at = ${now},
      closed_at = ${to === 'closed' ? now : null}
    where id = ${agent.id} and status = ${agent.status}
    returning ${columns(tx)}
  `;
  return row && toAgent(row);
}

/** Stores a new end of an open agent's delegation. The operator keeps its permissions until then. */
export async function saveDelegation(
  tx: Queryable,
  agentId: number,
  delegation: Pick<Agent, 'expirySeconds' | 'operatorExpiry' | 'delegationTxHash'>,
  now: Date,
): Promise<Agent | undefined> {
  const { expirySeconds, operatorExpiry, delegationTxHash } = delegation;
  const [row] = await tx<Row[]>`
    update agents set expiry_seconds = ${expirySeconds}, operator_expiry = ${operatorExpiry},
      delegation_tx_hash = ${delegationTxHash}, updated_at = ${now}
    where id = ${agentId} and status in ('active', 'suspended')
    returning ${columns(tx)}
  `;
  return row && toAgent(row);
}

/**
 * Counts the agent's charges of the last 24 hours, up to `recentChargesCounted`. The totals of yesterday and today bound the
 * rows to read, so that no older row is read.
 */
export async function countRecentCharges(sql: Queryable, agentId: number): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from (
      select created_at from charges where agent_id = ${agentId}
      order by id desc
      limit (select least(${ACCOUNT_LIMITS.agent.recentChargesCounted}, coalesce(sum(calls), 0)) from spend_totals
             where agent_id = ${agentId} and day >= (now() at time zone 'utc')::date - 1)
    ) as latest
    where created_at > now() - interval '24 hours'
  `;
  return row?.count ?? 0;
}

/** Returns true when the account had an agent before this one, closed ones included. */
export async function hasEarlierAgent(
  sql: Queryable,
  { accountId, agentId }: Required<AgentRef>,
): Promise<boolean> {
  const rows = await sql`
    select 1 from agents where account_id = ${accountId} and id < ${agentId} limit 1`;
  return rows.length > 0;
}
