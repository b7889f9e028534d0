import { decodeCounters, encodeCounters } from '../../ledger/store/counter-codec.ts';
import type { Queryable } from '../../platform/postgres/sql.ts';
import { type Counter, emptyCounter } from '../../policy/counter.ts';
import type { Policy } from '../../policy/policy.ts';
import { bucketAt, bucketsOf } from '../../policy/window.ts';
import {
  type Counted,
  type History,
  type PolicyOwner,
  readSettled,
} from '../awareness/history-store.ts';

/**
 * Writes the amount that counts under a policy now: every matching open hold, and the matching charges in its window since
 * `startsAtMs`. Call it in the sql transaction that writes the policy, after `invalidations.commit` has locked the rows of all
 * agents under the cap, so that nothing is held or settled meanwhile. With a history that was read before, only later charges
 * are read while those rows are locked.
 */
export async function seedCounter(
  tx: Queryable,
  policy: Policy,
  owner: PolicyOwner,
  startsAtMs: number,
  nowMs: number,
  known?: History,
): Promise<void> {
  const head = bucketAt(policy, nowMs);
  const heldRaw = await sumHeld(tx, policy.id, owner);
  const buckets = emptyCounter(policy.id, bucketsOf(policy.window)).buckets.slice();
  let settledRaw = 0n;
  const of = countedOf(policy, startsAtMs);
  for (const { bucket, amountRaw } of await readSettled(tx, owner, of, nowMs, known)) {
    // Buckets may have left the window while this transaction waited for locks.
    if (bucket <= head - buckets.length) continue;
    const place = bucket % buckets.length;
    buckets[place] = (buckets[place] ?? 0n) + amountRaw;
    settledRaw += amountRaw;
  }
  const counter = { policyId: policy.id, heldRaw, head, buckets, settledRaw };
  if (owner.agentId === null) await saveTeamCounter(tx, counter);
  else await changeOwnCounters(tx, owner.agentId, policy.id, [counter]);
}

/** Picks the fields of a policy that decide which charges count under it. */
export const countedOf = (
  { kind, matchKey, matchKind, window, effectiveFromSec }: Omit<Counted, 'startsAtMs'>,
  startsAtMs: number,
): Counted => ({ kind, matchKey, matchKind, window, effectiveFromSec, startsAtMs });

/** Deletes the counters of a policy that was ended. */
export async function dropCounter(tx: Queryable, policy: Policy): Promise<void> {
  if (policy.agentId === null) {
    await tx`delete from team_counters where policy_id = ${policy.id}`;
  } else await changeOwnCounters(tx, policy.agentId, policy.id, []);
}

/** Returns the counters of team policies as they were last written. Roll them to the present before reading. */
export async function readTeamCounters(
  sql: Queryable,
  policyIds: readonly number[],
): Promise<Map<number, Counter>> {
  if (policyIds.length === 0) return new Map();
  const rows = await sql<
    { policy_id: number; held_raw: bigint; head: bigint; buckets: bigint[] }[]
  >`
    select policy_id, held_raw, head, buckets from team_counters
    where policy_id = any (${policyIds.map(String)}::integer[])`;
  return new Map(
    rows.map(({ policy_id: policyId, held_raw: heldRaw, head, buckets }) => {
      const settledRaw = buckets.reduce((sum, raw) => sum + raw, 0n);
      return [policyId, { policyId, heldRaw, head: Number(head), buckets, settledRaw }];
    }),
  );
}

async function sumHeld(tx: Queryable, policyId: number, owner: PolicyOwner): Promise<bigint> {
  const [row] = await tx<{ held: string }[]>`
    select coalesce(sum(h.amount_raw), 0)::text as held
    from policies p, agent_funds f join holds h on h.agent_id = f.agent_id
    where p.id = ${policyId} and f.account_id = ${owner.accountId}
      and f.agent_id = coalesce(${owner.agentId}::integer, f.agent_id)
      and policy_matches(p.kind, p.match_key, p.match_kind, h.key_root_id, h.task_id, h.host, h.payee)`;
  return BigInt(row?.held ?? 0);
}

async function saveTeamCounter(tx: Queryable, counter: Counter): Promise<void> {
  const { policyId, heldRaw, head, buckets } = counter;
  await tx`
    insert into team_counters (policy_id, held_raw, head, buckets)
    values (${policyId}, ${String(heldRaw)}::bigint, ${String(head)}::bigint,
      ${buckets.map(String)}::bigint[])
    on conflict (policy_id) do update
    set held_raw = excluded.held_raw, head = excluded.head, buckets = excluded.buckets`;
}

/** Replaces the counter of one policy in its agent's row, which the sql transaction has locked. */
async function changeOwnCounters(
  tx: Queryable,
  agentId: number,
  policyId: number,
  instead: readonly Counter[],
): Promise<void> {
  const [row] = await tx<{ counters: string | null }[]>`
    select counters from agent_funds where agent_id = ${agentId} for no key update`;
  const others = decodeCounters(row?.counters ?? null).filter((c) => c.policyId !== policyId);
  const counters = [...others, ...instead].sort((a, b) => a.policyId - b.policyId);
  await tx`
    update agent_funds set counters = ${encodeCounters(counters)} where agent_id = ${agentId}`;
}
