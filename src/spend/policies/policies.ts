import { requireAgent } from '../../accounts/agents/require-agent.ts';
import { agentErrors } from '../../accounts/errors.ts';
import { requestErrors } from '../../http/route/errors.ts';
import type { Queryable } from '../../platform/postgres/sql.ts';
import type { Counter } from '../../policy/counter.ts';
import type { PolicyKind } from '../../policy/policy.ts';
import { type History, readHistory } from '../awareness/history-store.ts';
import { controlErrors } from '../errors.ts';
import { countedOf, readTeamCounters } from '../limits/counter-store.ts';
import { requireCovered } from '../limits/kept-money.ts';
import { SPEND_LIMITS } from '../limits.ts';
import {
  type Change,
  type ControlsDeps,
  type ControlsScope,
  changeControls,
  timeOf,
} from './change-controls.ts';
import { isRecounted, planChange } from './plan-change.ts';
import { type Plan, planPolicy } from './plan-policy.ts';
import { policyRecord } from './policy-record.ts';
import {
  isLiving,
  type PolicyEdit,
  type PolicyRequest,
  type StoredPolicy,
} from './policy-request.ts';
import {
  findDuplicate,
  findLivingPolicies,
  findPastPolicies,
  findPolicy,
  readOwnCounters,
} from './policy-store.ts';
import { addPolicy, endPolicy, savePolicy, startsAtMs } from './write-policy.ts';

export type Policies = ReturnType<typeof createPolicies>;

/**
 * Creates the routes' functions for caps on tasks, hosts and payees, and on a team's whole spending. An agent's session limit
 * and the budgets of its keys are policies too, but have routes of their own and read as absent here.
 */
export function createPolicies(deps: ControlsDeps) {
  return {
    async list(scope: ControlsScope, { includePast }: { readonly includePast: boolean }) {
      if (scope.agentId !== null) await requireAgent(deps.sql, scope);
      const { nowMs, nowSec } = timeOf(deps);
      const kinds = kindsOf(scope);
      const living = await findLivingPolicies(deps.sql, scope, kinds, nowSec);
      const past = includePast ? await findPastPolicies(deps.sql, scope, kinds, nowSec) : [];
      const counters = await countersOf(deps.sql, scope, living);
      return [...living, ...past]
        .sort((a, b) => a.id - b.id)
        .map((policy) => policyRecord(policy, counters.get(policy.id), { nowMs, nowSec }));
    },

    create: (scope: ControlsScope, wanted: PolicyRequest) => createPolicy(deps, scope, wanted),

    change: (scope: ControlsScope, policyId: number, edit: PolicyEdit) =>
      changePolicy(deps, scope, policyId, edit),

    async revoke(scope: ControlsScope, policyId: number): Promise<{ readonly status: 'revoked' }> {
      return changeControls(deps, scope, async (change) => {
        const policy = await requirePolicy(change, scope, policyId);
        change.permit({ kind: 'revoke' });
        await endPolicy(change, policy);
        return { status: 'revoked' };
      });
    },

    /** Restarts a rolling policy: charges settled before now no longer count, open holds still do. */
    async reset(scope: ControlsScope, policyId: number) {
      return changeControls(deps, scope, async (change) => {
        const policy = await requirePolicy(change, scope, policyId);
        if (policy.window.kind !== 'rolling') throw controlErrors.notResettable();
        change.permit({ kind: 'reset' });
        const after = { ...policy, startsAtMs: change.nowMs };
        await savePolicy(change, scope, after, true);
        return recordNow(change, scope, after);
      });
    },
  };
}

async function createPolicy(deps: ControlsDeps, scope: ControlsScope, wanted: PolicyRequest) {
  const spentBefore = () => {
    const { nowMs, nowSec } = timeOf(deps);
    const planned = requirePlan(planPolicy(wanted, nowSec));
    const counted = countedOf(planned, startsAtMs(planned, nowMs));
    return readHistory(deps.sql, scope, counted, nowMs);
  };
  const add = async (change: Change, known: History | undefined) => {
    const planned = requirePlan(planPolicy(wanted, change.nowSec));
    change.permit({ kind: 'create', policyKind: planned.kind, mode: change.controls.mode });
    await requireRoom(change, scope);
    await requireUnique(change, scope, planned);
    return recordNow(change, scope, await addPolicy(change, scope, planned, known));
  };
  return changeControls(deps, scope, add, spentBefore);
}

async function changePolicy(
  deps: ControlsDeps,
  scope: ControlsScope,
  policyId: number,
  edit: PolicyEdit,
) {
  const spentBefore = async () => {
    const { nowMs, nowSec } = timeOf(deps);
    const before = await requirePolicy({ tx: deps.sql }, scope, policyId);
    const after = requirePlan(planChange(before, edit, nowSec));
    if (!isRecounted(before, after)) return undefined;
    return readHistory(deps.sql, scope, countedOf(after, after.startsAtMs), nowMs);
  };
  const save = async (change: Change, known: History | undefined) => {
    const before = await requirePolicy(change, scope, policyId);
    const after = requirePlan(planChange(before, edit, change.nowSec));
    change.permit({ kind: 'edit', before, after, mode: change.controls.mode });
    const revived = !isLiving(before, change.nowSec) && isLiving(after, change.nowSec);
    if (revived) await requireRoom(change, scope);
    if (revived) await requireUnique(change, scope, after, policyId);
    const write = () => savePolicy(change, scope, after, isRecounted(before, after), known);
    if (after.reserves) await requireCovered(change, after, write);
    else await write();
    return recordNow(change, scope, after);
  };
  return changeControls(deps, scope, save, spentBefore);
}

const kindsOf = ({ agentId }: ControlsScope): readonly PolicyKind[] =>
  agentId === null ? ['task', 'api', 'vendor', 'session'] : ['task', 'api', 'vendor'];

async function countersOf(
  sql: Queryable,
  { agentId }: ControlsScope,
  policies: readonly StoredPolicy[],
): Promise<ReadonlyMap<number, Counter>> {
  if (agentId !== null) return readOwnCounters(sql, agentId);
  return readTeamCounters(
    sql,
    policies.map(({ id }) => id),
  );
}

/** Returns the record of a policy in the sql transaction that has just written it. */
async function recordNow(change: Change, scope: ControlsScope, policy: StoredPolicy) {
  const counters = await countersOf(change.tx, scope, [policy]);
  return policyRecord(policy, counters.get(policy.id), change);
}

function requirePlan<T>(plan: Plan<T>): T {
  if (plan.kind === 'refused') throw requestErrors.invalid(plan.details);
  return plan.policy;
}

async function requirePolicy({ tx }: Pick<Change, 'tx'>, scope: ControlsScope, policyId: number) {
  const policy = await findPolicy(tx, scope, kindsOf(scope), policyId);
  if (policy === undefined) throw controlErrors.policyNotFound();
  return policy;
}

/**
 * Throws when the owner has the maximum number of living policies. The sql transaction has locked the rows of all agents that
 * the policies bind, so the bound holds under any race.
 */
export async function requireRoom({ tx, nowSec }: Change, scope: ControlsScope): Promise<void> {
  const most = scope.agentId === null ? SPEND_LIMITS.policy.perTeam : SPEND_LIMITS.policy.perAgent;
  const living = await findLivingPolicies(tx, scope, kindsOf(scope), nowSec);
  if (living.length < most) return;
  throw agentErrors.limitExceeded(
    most,
    `active policies for each ${scope.agentId === null ? 'team' : 'agent'}`,
  );
}

async function requireUnique(
  { tx, nowSec }: Change,
  scope: ControlsScope,
  policy: Pick<StoredPolicy, 'kind' | 'matchKey' | 'matchKind' | 'reserves'>,
  exceptId = 0,
): Promise<void> {
  const duplicate = await findDuplicate(tx, scope, policy, { nowSec, exceptId });
  if (duplicate === undefined) return;
  if (policy.reserves) throw controlErrors.taskAlreadyHeld(duplicate);
  throw controlErrors.duplicatePolicy(duplicate);
}
