import { requireAgent } from '../../accounts/agents/require-agent.ts';
import type { Queryable } from '../../platform/postgres/sql.ts';
import type { Counter } from '../../policy/counter.ts';
import {
  type AgentScope,
  type Change,
  type ControlsDeps,
  changeControls,
  timeOf,
} from '../policies/change-controls.ts';
import { usageOf } from '../policies/policy-record.ts';
import { type NewPolicy, plainCap, type StoredPolicy } from '../policies/policy-request.ts';
import { findLivingPolicies, readOwnCounters } from '../policies/policy-store.ts';
import { addPolicy, endPolicy, savePolicy } from '../policies/write-policy.ts';

export type SessionLimit = ReturnType<typeof createSessionLimit>;

const NONE = { active: false, limitRaw: null, sessionStartedAt: null } as const;

/**
 * Creates the reads and changes of an agent's session limit: an amount for all its spending since the limit was set.
 * Setting the limit begins a new session.
 */
export function createSessionLimit(deps: ControlsDeps) {
  return {
    async read(scope: AgentScope) {
      await requireAgent(deps.sql, scope);
      const { nowMs, nowSec } = timeOf(deps);
      const policy = await findLimit(deps.sql, scope, nowSec);
      if (policy === undefined) return NONE;
      return record(policy, await counterOf(deps.sql, policy), nowMs);
    },

    async set(scope: AgentScope, limitRaw: bigint) {
      return changeControls(deps, scope, async (change) => {
        const { tx, nowMs, nowSec } = change;
        const present = await findLimit(tx, scope, nowSec);
        change.permit({
          kind: 'session_limit',
          remainingRaw: await remainingRaw(change, present),
          limitRaw,
        });
        const policy = await begin(change, scope, present, limitRaw);
        return record(policy, await counterOf(tx, policy), nowMs);
      });
    },

    /** Removes the session limit. Does nothing when there is none. */
    async clear(scope: AgentScope) {
      return changeControls(deps, scope, async (change) => {
        change.permit({ kind: 'revoke' });
        const policy = await findLimit(change.tx, scope, change.nowSec);
        if (policy !== undefined) await endPolicy(change, policy);
        return { active: false, limitRaw: null, status: 'cleared' } as const;
      });
    },
  };
}

async function findLimit(sql: Queryable, scope: AgentScope, nowSec: number) {
  const [policy] = await findLivingPolicies(sql, scope, ['session'], nowSec);
  return policy;
}

async function remainingRaw({ tx, nowMs }: Change, policy: StoredPolicy | undefined) {
  if (policy === undefined) return null;
  return usageOf(policy, await counterOf(tx, policy), nowMs).remainingRaw;
}

async function begin(
  change: Change,
  scope: AgentScope,
  present: StoredPolicy | undefined,
  limitRaw: bigint,
): Promise<StoredPolicy> {
  if (present === undefined) return addPolicy(change, scope, limitOf(limitRaw));
  const policy = { ...present, limitRaw, startsAtMs: change.nowMs };
  await savePolicy(change, scope, policy, true);
  return policy;
}

async function counterOf(sql: Queryable, policy: StoredPolicy): Promise<Counter | undefined> {
  return policy.agentId === null
    ? undefined
    : (await readOwnCounters(sql, policy.agentId)).get(policy.id);
}

function record(policy: StoredPolicy, counter: Counter | undefined, nowMs: number) {
  const usage = usageOf(policy, counter, nowMs);
  return {
    active: true,
    limitRaw: policy.limitRaw.toString(),
    sessionStartedAt: new Date(policy.startsAtMs).toISOString(),
    sessionSpentRaw: usage.spentRaw.toString(),
    sessionRemainingRaw: usage.remainingRaw.toString(),
  } as const;
}

const limitOf = (limitRaw: bigint): NewPolicy =>
  plainCap({ kind: 'session', matchKey: null, limitRaw, window: { kind: 'session' } });
