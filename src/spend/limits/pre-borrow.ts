import { controlErrors } from '../errors.ts';
import { SPEND_LIMITS } from '../limits.ts';
import { type AgentScope, type ControlsDeps, changeControls } from '../policies/change-controls.ts';
import { requireRoom } from '../policies/policies.ts';
import { type NewPolicy, plainCap } from '../policies/policy-request.ts';
import { findDuplicate } from '../policies/policy-store.ts';
import { addPolicy } from '../policies/write-policy.ts';
import { requireCovered } from './kept-money.ts';

export type PreBorrowRequest = {
  /** Id of the task in its canonical spelling. */
  readonly taskId: string;
  readonly amountRaw: bigint;
  readonly ttlSeconds?: number | null | undefined;
};

export type PreBorrow = ReturnType<typeof createPreBorrow>;

/**
 * Creates the reserves for tasks: money that only one task can spend, for a time, while the task can spend no more than it. An
 * ordinary cap on the same task is independent of the reserve and stays.
 */
export function createPreBorrow(deps: ControlsDeps) {
  return {
    async keep(scope: AgentScope, wanted: PreBorrowRequest) {
      return changeControls(deps, scope, async (change) => {
        const { tx, nowSec } = change;
        const ttlSeconds = wanted.ttlSeconds ?? SPEND_LIMITS.policy.preBorrowSeconds.default;
        const policy = keepingPolicy(wanted, nowSec + ttlSeconds);
        const held = await findDuplicate(tx, scope, policy, { nowSec });
        if (held !== undefined) throw controlErrors.taskAlreadyHeld(held);
        await requireRoom(change, scope);
        let policyId = 0;
        await requireCovered(change, { ...policy, agentId: scope.agentId }, async () => {
          policyId = (await addPolicy(change, scope, policy)).id;
        });
        return {
          policyId,
          taskId: wanted.taskId,
          limitRaw: wanted.amountRaw.toString(),
          expiresAt: nowSec + ttlSeconds,
          expiresAtIso: new Date((nowSec + ttlSeconds) * 1_000).toISOString(),
        };
      });
    },
  };
}

const keepingPolicy = ({ taskId, amountRaw }: PreBorrowRequest, expiresAtSec: number): NewPolicy =>
  plainCap({
    kind: 'task',
    matchKey: taskId,
    limitRaw: amountRaw,
    window: { kind: 'once' },
    expiresAtSec,
    reserves: true,
  });
