import { minRaw } from '../../kernel/amount.ts';
import { type AllowlistRefusal, refusalOfDestination } from '../../policy/allowlist.ts';
import { type Counter, spentRaw } from '../../policy/counter.ts';
import { effectiveCapRaw } from '../../policy/effective-cap.ts';
import { type Breach, binds, worseBreach } from '../../policy/evaluate.ts';
import { matches } from '../../policy/match.ts';
import { isEffective, type Policy, type SpendFacts } from '../../policy/policy.ts';
import type { HoldRefusal } from './requests.ts';
import type { Rules, WindowPosition } from './rules.ts';

export type Demand = {
  readonly keyId: number | undefined;
  readonly amountRaw: bigint;
  readonly facts: SpendFacts;
  readonly taskValueBps: number | null;
  readonly spendableRaw: bigint;
  /** The part of the wallet that is not promised to other payments. Set when the money leaves the wallet on chain. */
  readonly walletFreeRaw?: bigint | undefined;
  /** True when the operator chose the recipient, so that no allowlist applies. */
  readonly isOperators?: boolean | undefined;
  readonly counters: readonly Counter[];
};

const BY_STATUS = {
  pending_delegation: 'agent_not_active',
  suspended: 'agent_suspended',
  closed: 'agent_closed',
} as const;

/**
 * Returns the refusal of a hold by the agent's status, key, allowlist, balance or own caps. Undefined when none of them
 * refuses; the database checks the team's caps.
 */
export function refusalOf(
  rules: Rules,
  demand: Demand,
  position: WindowPosition,
): HoldRefusal | undefined {
  const barred = barOf(rules, demand.keyId, position);
  if (barred !== undefined) return barred;
  const { facts, amountRaw } = demand;
  const unlisted = unlistedOf(rules, demand, position);
  if (unlisted !== undefined) return unlisted;
  const leftRaw = demand.spendableRaw - reservedRaw(rules, demand.counters, position, facts.taskId);
  const availableRaw = minRaw(leftRaw, demand.walletFreeRaw ?? leftRaw);
  if (amountRaw > availableRaw) {
    return {
      reason: 'insufficient_balance',
      availableRaw: availableRaw > 0n ? availableRaw : 0n,
      requiredRaw: amountRaw,
    };
  }
  return cappedOf(breachesOf(rules, demand, position));
}

/**
 * Returns the refusal by an allowlist. Allowlists gate destinations that the agent has chosen and pays itself; the sources of a
 * model are the operator's choice.
 */
function unlistedOf(
  rules: Rules,
  { facts: { host, payee }, isOperators = false }: Demand,
  { nowSec }: WindowPosition,
): AllowlistRefusal | undefined {
  const mode = rules.allowlistMode;
  if (host === null || payee === null || mode === 'off' || isOperators) return undefined;
  const known = [...rules.policies, ...rules.teamPolicies];
  return refusalOfDestination(mode, known, { host, payee }, nowSec);
}

/**
 * Returns the refusal of all spending by the agent with this key; undefined when neither status, key nor delegation forbids
 * it.
 */
export function barOf(
  rules: Rules,
  keyId: number | undefined,
  position: Pick<WindowPosition, 'nowSec'>,
): HoldRefusal | undefined {
  if (rules.status !== 'active') return { reason: BY_STATUS[rules.status] };
  if (keyId !== undefined && !rules.keyIds.has(keyId)) return { reason: 'key_revoked' };
  if (rules.operatorExpirySec !== null && position.nowSec >= rules.operatorExpirySec) {
    return { reason: 'delegation_expired' };
  }
  return undefined;
}

/**
 * Returns the refusal by a cap of the agent's team, as the database decides it. Of several breaches, the worst breach is
 * reported. `teamCounters` are in the order of `rules.teamPolicies`.
 */
export function teamRefusalOf(
  rules: Rules,
  demand: Pick<Demand, 'amountRaw' | 'facts' | 'taskValueBps'>,
  position: WindowPosition,
  teamCounters: readonly Counter[],
): HoldRefusal | undefined {
  const { amountRaw: requiredRaw, facts } = demand;
  if (requiredRaw === 0n) return undefined;
  const reading = { taskValueBps: demand.taskValueBps, quality: rules.quality };
  const breaches: Breach[] = [];
  for (let i = 0; i < rules.teamPolicies.length; i++) {
    const policy = rules.teamPolicies[i] as Policy;
    if (!binds(policy, facts, position.nowSec)) continue;
    const spent = spentRaw(teamCounters[i] as Counter, position.teamBuckets[i] as number);
    const capRaw = effectiveCapRaw(policy, reading);
    if (spent + requiredRaw <= capRaw) continue;
    breaches.push({ policy, requiredRaw, spentRaw: spent, capRaw });
  }
  return cappedOf(breaches);
}

/**
 * Returns the refusal for some breaches: it names the worst breach, and its available amount is the smallest amount that any of
 * the caps leaves. Undefined without breaches.
 */
export function cappedOf(breaches: readonly Breach[]): HoldRefusal | undefined {
  let worst: Breach | undefined;
  let leastRaw: bigint | undefined;
  for (const breach of breaches) {
    worst = worseBreach(worst, breach);
    const roomRaw = breach.capRaw - breach.spentRaw;
    if (leastRaw === undefined || roomRaw < leastRaw) leastRaw = roomRaw;
  }
  if (worst === undefined || leastRaw === undefined) return undefined;
  const availableRaw = leastRaw > 0n ? leastRaw : 0n;
  return { reason: 'cap_exceeded', breach: worst, availableRaw, suspended: false };
}

/** Returns the money that reserving policies keep for tasks other than `exceptTaskId`. */
export function reservedRaw(
  rules: Pick<Rules, 'policies'>,
  counters: readonly Counter[],
  position: WindowPosition,
  exceptTaskId: string | null,
): bigint {
  let keptRaw = 0n;
  for (let i = 0; i < rules.policies.length; i++) {
    const policy = rules.policies[i] as Policy;
    if (!policy.reserves || policy.matchKey === exceptTaskId) continue;
    if (!isEffective(policy, position.nowSec)) continue;
    const unspentRaw =
      policy.limitRaw - spentRaw(counters[i] as Counter, position.buckets[i] as number);
    if (unspentRaw > 0n) keptRaw += unspentRaw;
  }
  return keptRaw;
}

function breachesOf(rules: Rules, demand: Demand, position: WindowPosition): Breach[] {
  const { facts, amountRaw, counters, taskValueBps } = demand;
  const reading = { taskValueBps, quality: rules.quality };
  const breaches: Breach[] = [];
  for (let i = 0; i < rules.policies.length; i++) {
    const policy = rules.policies[i] as Policy;
    if (!matches(policy, facts) || !isEffective(policy, position.nowSec)) continue;
    const spent = spentRaw(counters[i] as Counter, position.buckets[i] as number);
    const capRaw = effectiveCapRaw(policy, reading);
    if (spent + amountRaw <= capRaw) continue;
    breaches.push({ policy, requiredRaw: amountRaw, spentRaw: spent, capRaw });
  }
  return breaches;
}
