import { assert } from '../../kernel/assert.ts';
import { cappedOf } from '../rules/admit.ts';
import type { Resolution } from '../rules/answer.ts';
import type { AgentBatchOutcome, ChangeOutcome } from '../rules/change.ts';
import type { Decision } from '../rules/decision.ts';
import type { HoldRefusal } from '../rules/requests.ts';
import type { Rules } from '../rules/rules.ts';
import type { Snapshot } from '../rules/spend-state.ts';
import type { Pending, TakenOperation } from './pending-operation.ts';

export type ResolvedBatch = {
  readonly pending: Pending;
  readonly resolution: Resolution;
  readonly shortfallRaw: bigint;
};

export type BatchReport = {
  /** Operations to decide again, in the order of arrival. */
  readonly again: readonly Pending[];
  readonly resolved: readonly ResolvedBatch[];
  /** True amounts of holds, by hold id, that differ from the amounts that their callers knew. */
  readonly openHolds: ReadonlyMap<string, bigint>;
};

const NOTHING_AGAIN: readonly Pending[] = [];
const NO_HOLDS: ReadonlyMap<string, bigint> = new Map();

/** Returns the resolution of each operation in an agent's batch, by the database's answer and these rules. */
export function resolveBatch(
  taken: readonly TakenOperation[],
  outcome: AgentBatchOutcome,
  rules: Rules | undefined,
): BatchReport {
  if (outcome.kind === 'declined') return resolveDeclined(taken, outcome, rules);
  const after = outcome.kind === 'applied' ? snapshotOf(outcome, rules) : undefined;
  const resolved: ResolvedBatch[] = [];
  for (const { pending, decision } of taken) {
    if (outcome.kind === 'agent_unknown') {
      resolved.push({ pending, resolution: { kind: 'agent_unknown' }, shortfallRaw: 0n });
    } else if (decision.kind === 'refused') {
      const resolution = { kind: 'refused', refusal: decision.refusal } as const;
      resolved.push({ pending, resolution, shortfallRaw: 0n });
    } else {
      const { leftRaw, shortfallRaw } = decision;
      const resolution = { kind: 'applied', leftRaw, funds: outcome.state, after } as const;
      resolved.push({ pending, resolution, shortfallRaw });
    }
  }
  return { again: NOTHING_AGAIN, resolved, openHolds: NO_HOLDS };
}

const snapshotOf = (
  { state }: Exclude<AgentBatchOutcome, { kind: 'agent_unknown' }>,
  rules: Rules | undefined,
): Snapshot | undefined => rules && { state, rules };

/**
 * Resolves the operations of a declined batch. Operations without an outcome are decided again, on the state that came with
 * the answer.
 */
function resolveDeclined(
  taken: readonly TakenOperation[],
  outcome: Extract<AgentBatchOutcome, { kind: 'declined' }>,
  rules: Rules | undefined,
): BatchReport {
  const again: Pending[] = [];
  const resolved: ResolvedBatch[] = [];
  const openHolds = new Map<string, bigint>();
  const after = snapshotOf(outcome, rules);
  const resolutions = taken.map(({ pending, decision }, i) => {
    const said = outcome.outcomes[i] ?? { kind: 'again' };
    const { operation } = pending;
    if (operation.kind === 'settle' && said.kind === 'mismatch' && said.openRaw !== null) {
      // A hold that grew meanwhile is settled again, with its true amount.
      openHolds.set(operation.hold.holdId, said.openRaw);
      return undefined;
    }
    return resolutionOf(said, { funds: outcome.state, after }, decision);
  });
  taken.forEach(({ pending }, i) => {
    const resolution = inPair(pending, resolutions, i);
    if (resolution !== undefined) {
      resolved.push({ pending, resolution, shortfallRaw: 0n });
      return;
    }
    if (outcome.stale) pending.misses++;
    again.push(pending);
  });
  return { again, resolved, openHolds };
}

/**
 * Returns the resolution of one operation in view of its pair. A loan and its hold fail together. A hold's remainder is
 * returned only in the commit that settles the hold; when another commit has settled the hold, nothing is returned.
 */
function inPair(
  { giver, operation, taker }: Pending,
  resolutions: readonly (Resolution | undefined)[],
  i: number,
): Resolution | undefined {
  const own = resolutions[i];
  const giving = giver === undefined ? undefined : resolutions[i - 1];
  const taking = taker === undefined ? undefined : resolutions[i + 1];
  if (operation.kind === 'shrink') return failed(own) ?? failed(taking) ?? own;
  if (operation.kind === 'hold') return failed(own) ?? failed(giving) ?? own;
  if (operation.kind === 'extend' && giving !== undefined) return own ?? { kind: 'lost' };
  return own;
}

const failed = (resolution: Resolution | undefined): Resolution | undefined =>
  resolution?.kind === 'applied' || resolution?.kind === 'already' ? undefined : resolution;

/** Returns the resolution for a change's outcome. Undefined when the operation is to be decided again. */
function resolutionOf(
  said: ChangeOutcome,
  left: Pick<Extract<Resolution, { kind: 'applied' | 'already' }>, 'funds' | 'after'>,
  decision: Decision,
): Resolution | undefined {
  switch (said.kind) {
    case 'already':
      return { kind: 'already', leftRaw: said.leftRaw, ...left };
    case 'conflict':
      return { kind: 'conflict' };
    case 'lost':
    case 'mismatch':
      return { kind: 'lost' };
    case 'capped':
      return { kind: 'refused', refusal: cappedBy(said, decision) };
    case 'again':
      return undefined;
  }
}

function cappedBy(
  { policyId, spentRaw }: Extract<ChangeOutcome, { kind: 'capped' }>,
  { change }: Decision,
): HoldRefusal {
  const counted = change.count?.team.find(({ policy }) => policy.id === policyId);
  assert(counted !== undefined, 'an operation is refused by a cap that it named');
  const requiredRaw = change.count?.heldRaw ?? 0n;
  const breach = { policy: counted.policy, requiredRaw, spentRaw, capRaw: counted.capRaw ?? 0n };
  const refusal = cappedOf([breach]);
  assert(refusal !== undefined, 'a breach is a refusal');
  return refusal;
}
