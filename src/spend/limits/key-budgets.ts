import type { Queryable } from '../../platform/postgres/sql.ts';
import type { Counter } from '../../policy/counter.ts';
import type { SpendWindow } from '../../policy/policy.ts';
import type { PolicyOwner } from '../awareness/history-store.ts';
import { SPEND_LIMITS } from '../limits.ts';
import { usageOf, windowResetsAt } from '../policies/policy-record.ts';
import { plainCap, type StoredPolicy } from '../policies/policy-request.ts';
import { findLivingPolicies, readOwnCounters } from '../policies/policy-store.ts';
import { addPolicy, endPolicy, savePolicy } from '../policies/write-policy.ts';

export type BudgetRequest = {
  readonly budgetRaw: bigint;
  readonly windowSeconds?: number | null | undefined;
};

/** Budget of a key in responses. */
export type BudgetView = {
  readonly policyId: number;
  readonly limitRaw: string;
  readonly spentRaw: string;
  readonly remainingRaw: string;
  readonly windowKind: SpendWindow['kind'];
  readonly windowResetsAt: string | null;
};

/** Budgets of an agent's keys, by the first key in each line of rotations. All keys of a line share its budget. */
export type KeyBudgets = ReadonlyMap<number, BudgetView>;

type KeyOwner = PolicyOwner & { readonly agentId: number };

/** Returns the budgets of an agent's keys. A budget is a policy on the first key of a line, so a rotation keeps it. */
export async function readKeyBudgets(
  sql: Queryable,
  owner: KeyOwner,
  nowMs: number,
): Promise<KeyBudgets> {
  const policies = await findBudgets(sql, owner, nowMs);
  if (policies.length === 0) return new Map();
  const counters = await readOwnCounters(sql, owner.agentId);
  return new Map(
    policies.map((policy) => [
      Number(policy.matchKey),
      viewOf(policy, counters.get(policy.id), nowMs),
    ]),
  );
}

/**
 * Gives a line of rotated keys a budget, or changes the budget: the spent amount stays spent. Call it in a commit of the keys'
 * agent.
 */
export async function setKeyBudget(
  tx: Queryable,
  owner: KeyOwner,
  rootId: number,
  wanted: BudgetRequest,
  nowMs: number,
): Promise<void> {
  const at = { tx, nowMs, nowSec: Math.floor(nowMs / 1_000) };
  const present = await findBudget(tx, owner, rootId, nowMs);
  if (present === undefined) {
    const seconds = wanted.windowSeconds ?? SPEND_LIMITS.budget.keyWindowSeconds;
    const window = { kind: 'rolling', seconds } as const;
    const matchKey = String(rootId);
    await addPolicy(
      at,
      owner,
      plainCap({ kind: 'key', matchKey, limitRaw: wanted.budgetRaw, window }),
    );
    return;
  }
  const window =
    wanted.windowSeconds == null
      ? present.window
      : ({ kind: 'rolling', seconds: wanted.windowSeconds } as const);
  const isOtherWindow = wanted.windowSeconds != null;
  await savePolicy(at, owner, { ...present, limitRaw: wanted.budgetRaw, window }, isOtherWindow);
}

/** Ends the budget of a line of keys. Returns false when the line has no budget. */
export async function endKeyBudget(
  tx: Queryable,
  owner: KeyOwner,
  rootId: number,
  nowMs: number,
): Promise<boolean> {
  const policy = await findBudget(tx, owner, rootId, nowMs);
  if (policy !== undefined) await endPolicy({ tx }, policy);
  return policy !== undefined;
}

const findBudgets = (sql: Queryable, owner: KeyOwner, nowMs: number) =>
  findLivingPolicies(sql, owner, ['key'], Math.floor(nowMs / 1_000));

async function findBudget(sql: Queryable, owner: KeyOwner, rootId: number, nowMs: number) {
  const policies = await findBudgets(sql, owner, nowMs);
  return policies.find(({ matchKey }) => matchKey === String(rootId));
}

function viewOf(policy: StoredPolicy, counter: Counter | undefined, nowMs: number): BudgetView {
  const usage = usageOf(policy, counter, nowMs);
  return {
    policyId: policy.id,
    limitRaw: policy.limitRaw.toString(),
    spentRaw: usage.spentRaw.toString(),
    remainingRaw: usage.remainingRaw.toString(),
    windowKind: policy.window.kind,
    windowResetsAt: windowResetsAt(policy, counter, nowMs),
  };
}
