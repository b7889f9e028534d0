import { assert } from '../../kernel/assert.ts';
import { decodeCounters } from '../../ledger/store/counter-codec.ts';
import { type PolicyJson, policyOf } from '../../ledger/store/policy-row.ts';
import type { Queryable } from '../../platform/postgres/sql.ts';
import type { MatchKind, PolicyKind } from '../../policy/policy.ts';
import type { PolicyOwner } from '../awareness/history-store.ts';
import { SPEND_LIMITS } from '../limits.ts';
import type { AgentControls, NewPolicy, StoredPolicy } from './policy-request.ts';

type Row = Omit<PolicyJson, 'effective_from' | 'effective_until' | 'expires_at'> & {
  effective_from: bigint | null;
  effective_until: bigint | null;
  expires_at: bigint | null;
  starts_at: Date;
  created_at: Date;
  revoked_at: Date | null;
};

const seconds = (value: bigint | null): number | null => (value === null ? null : Number(value));

const toPolicy = (row: Row): StoredPolicy => ({
  ...policyOf({
    ...row,
    effective_from: seconds(row.effective_from),
    effective_until: seconds(row.effective_until),
    expires_at: seconds(row.expires_at),
  }),
  startsAtMs: row.starts_at.getTime(),
  createdAt: row.created_at,
  revokedAt: row.revoked_at,
});

/** Returns the condition for the owner's own policies. A team's policies are not its agents' policies. */
const ownedBy = (sql: Queryable, { accountId, agentId }: PolicyOwner) =>
  agentId === null
    ? sql`account_id = ${accountId} and agent_id is null`
    : sql`account_id = ${accountId} and agent_id = ${agentId}`;

const living = (sql: Queryable, nowSec: number) => sql`revoked_at is null
  and (effective_until is null or effective_until > ${String(nowSec)}::bigint)
  and (expires_at is null or expires_at > ${String(nowSec)}::bigint)`;

const over = (sql: Queryable, nowSec: number) => sql`(revoked_at is not null
  or effective_until <= ${String(nowSec)}::bigint or expires_at <= ${String(nowSec)}::bigint)`;

/** Returns the owner's living policies of some kinds, by id. Their number is bounded at their creation. */
export async function findLivingPolicies(
  sql: Queryable,
  owner: PolicyOwner,
  kinds: readonly PolicyKind[],
  nowSec: number,
): Promise<StoredPolicy[]> {
  const rows = await sql<Row[]>`
    select * from policies where ${ownedBy(sql, owner)} and kind = any (${[...kinds]}::text[])
      and ${living(sql, nowSec)} order by id`;
  return rows.map(toPolicy);
}

/** Returns the latest expired or revoked policies, by id. */
export async function findPastPolicies(
  sql: Queryable,
  owner: PolicyOwner,
  kinds: readonly PolicyKind[],
  nowSec: number,
): Promise<StoredPolicy[]> {
  const rows = await sql<Row[]>`
    select * from policies where ${ownedBy(sql, owner)} and kind = any (${[...kinds]}::text[])
      and ${over(sql, nowSec)} order by id desc limit ${SPEND_LIMITS.policy.pastListed}`;
  return rows.map(toPolicy).reverse();
}

/** Returns a policy that is not revoked; undefined when there is none. */
export async function findPolicy(
  sql: Queryable,
  owner: PolicyOwner,
  kinds: readonly PolicyKind[],
  policyId: number,
): Promise<StoredPolicy | undefined> {
  const [row] = await sql<Row[]>`
    select * from policies where id = ${policyId} and ${ownedBy(sql, owner)}
      and kind = any (${[...kinds]}::text[]) and revoked_at is null`;
  return row && toPolicy(row);
}

/**
 * Returns the id of another living policy for the same thing, other than `exceptId`. A reserve for a task and a cap of that
 * task are no duplicates of each other.
 */
export async function findDuplicate(
  sql: Queryable,
  owner: PolicyOwner,
  of: {
    readonly kind: PolicyKind;
    readonly matchKey: string | null;
    readonly matchKind: MatchKind | null;
    readonly reserves: boolean;
  },
  at: { readonly nowSec: number; readonly exceptId?: number },
): Promise<number | undefined> {
  const [row] = await sql<{ id: number }[]>`
    select id from policies where ${ownedBy(sql, owner)} and kind = ${of.kind}
      and match_key is not distinct from ${of.matchKey}
      and match_kind is not distinct from ${of.matchKind} and reserves = ${of.reserves}
      and id <> ${at.exceptId ?? 0} and ${living(sql, at.nowSec)}
    order by id limit 1`;
  return row?.id;
}

export async function insertPolicy(
  tx: Queryable,
  owner: PolicyOwner,
  policy: NewPolicy,
  startsAtMs: number,
): Promise<StoredPolicy> {
  const { window } = policy;
  const [row] = await tx<Row[]>`
    insert into policies (account_id, agent_id, kind, match_key, match_kind, limit_raw,
      limit_floor_raw, limit_ceiling_raw, window_kind, window_seconds, calendar_unit, starts_at,
      expires_at, effective_from, effective_until, action, label, quality_throttle_floor_bps,
      quality_window_seconds, reserves)
    values (${owner.accountId}, ${owner.agentId}, ${policy.kind}, ${policy.matchKey},
      ${policy.matchKind}, ${raw(policy.limitRaw)}::bigint, ${raw(policy.limitFloorRaw)}::bigint,
      ${raw(policy.limitCeilingRaw)}::bigint, ${window.kind},
      ${window.kind === 'rolling' ? window.seconds : null},
      ${window.kind === 'calendar' ? window.unit : null}, ${new Date(startsAtMs)},
      ${policy.expiresAtSec}, ${policy.effectiveFromSec}, ${policy.effectiveUntilSec},
      ${policy.action}, ${policy.label}, ${policy.qualityFloorBps}, ${policy.qualityWindowSeconds},
      ${policy.reserves})
    returning *`;
  assert(row !== undefined, 'an insert returns its row');
  return toPolicy(row);
}

/** Updates the changeable fields of a policy. Its kind, its match and the kind of its window never change. */
export async function updatePolicy(tx: Queryable, policy: StoredPolicy): Promise<void> {
  const { window } = policy;
  await tx`
    update policies set limit_raw = ${raw(policy.limitRaw)}::bigint,
      limit_floor_raw = ${raw(policy.limitFloorRaw)}::bigint,
      limit_ceiling_raw = ${raw(policy.limitCeilingRaw)}::bigint,
      window_seconds = ${window.kind === 'rolling' ? window.seconds : null},
      starts_at = ${new Date(policy.startsAtMs)}, effective_from = ${policy.effectiveFromSec},
      effective_until = ${policy.effectiveUntilSec}, action = ${policy.action},
      label = ${policy.label}, quality_throttle_floor_bps = ${policy.qualityFloorBps},
      quality_window_seconds = ${policy.qualityWindowSeconds}, updated_at = now()
    where id = ${policy.id}`;
}

/** Revokes the policies that are over, except the newest `SPEND_LIMITS.policy.pastListed`, which may be revived. */
export async function endLongOver(
  tx: Queryable,
  owner: PolicyOwner,
  nowSec: number,
): Promise<void> {
  await tx`
    with gone as (
      update policies set revoked_at = now(), updated_at = now()
      where id in (
        select id from policies where ${ownedBy(tx, owner)} and revoked_at is null
          and ${over(tx, nowSec)}
        order by id desc offset ${SPEND_LIMITS.policy.pastListed})
      returning id)
    delete from team_counters c using gone where c.policy_id = gone.id`;
}

export async function markRevoked(tx: Queryable, policyId: number): Promise<void> {
  await tx`update policies set revoked_at = now(), updated_at = now() where id = ${policyId}`;
}

const raw = (amountRaw: bigint | null): string | null => amountRaw?.toString() ?? null;

/** Returns the counters of an agent's own policies as they were last written. */
export async function readOwnCounters(sql: Queryable, agentId: number) {
  const [row] = await sql<{ counters: string | null }[]>`
    select counters from agent_funds where agent_id = ${agentId}`;
  return new Map(decodeCounters(row?.counters ?? null).map((c) => [c.policyId, c]));
}

/**
 * Returns the agent's allowlist mode and tighten-only lock. A caller that writes afterwards must have locked the agent's
 * balance row.
 */
export async function readControls(
  sql: Queryable,
  agentId: number,
): Promise<AgentControls | undefined> {
  const [row] = await sql<AgentControls[]>`
    select allowlist_mode as mode, self_service_locked as locked from agents where id = ${agentId}`;
  return row;
}

export async function saveMode(
  tx: Queryable,
  agentId: number,
  mode: AgentControls['mode'],
): Promise<void> {
  await tx`update agents set allowlist_mode = ${mode}, updated_at = now() where id = ${agentId}`;
}

export async function saveLock(tx: Queryable, agentId: number, locked: boolean): Promise<void> {
  await tx`update agents set self_service_locked = ${locked}, updated_at = now() where id = ${agentId}`;
}
