import type { Queryable } from '../../platform/postgres/sql.ts';
import type { Policy } from '../../policy/policy.ts';
import type { History, PolicyOwner } from '../awareness/history-store.ts';
import { dropCounter, seedCounter } from '../limits/counter-store.ts';
import { isLiving, type NewPolicy, type StoredPolicy } from './policy-request.ts';
import { endLongOver, insertPolicy, markRevoked, updatePolicy } from './policy-store.ts';

type At = { readonly tx: Queryable; readonly nowMs: number; readonly nowSec: number };

/**
 * Returns the start of counting. Windows of time also count spending from before the policy; other windows begin with the
 * policy.
 */
export const startsAtMs = ({ window }: Pick<Policy, 'window'>, nowMs: number): number =>
  window.kind === 'rolling' || window.kind === 'calendar' ? 0 : nowMs;

/** Inserts a policy together with the amount that counts under it. */
export async function addPolicy(
  { tx, nowMs, nowSec }: At,
  owner: PolicyOwner,
  policy: NewPolicy,
  known?: History,
): Promise<StoredPolicy> {
  await endLongOver(tx, owner, nowSec);
  const stored = await insertPolicy(tx, owner, policy, startsAtMs(policy, nowMs));
  await seedCounter(tx, stored, owner, stored.startsAtMs, nowMs, known);
  return stored;
}

/** Writes a policy, and with `recounted` counts its amount anew. A policy that is over counts nothing any more. */
export async function savePolicy(
  { tx, nowMs, nowSec }: At,
  owner: PolicyOwner,
  policy: StoredPolicy,
  recounted: boolean,
  known?: History,
): Promise<void> {
  await updatePolicy(tx, policy);
  if (recounted && isLiving(policy, nowSec)) {
    await seedCounter(tx, policy, owner, policy.startsAtMs, nowMs, known);
  }
}

/** Ends a policy and deletes its counters. */
export async function endPolicy({ tx }: Pick<At, 'tx'>, policy: Policy): Promise<void> {
  await markRevoked(tx, policy.id);
  await dropCounter(tx, policy);
}
