import { LIMITS } from '../kernel/limits.ts';
import { refuse } from '../kernel/refuse.ts';
import { type AgentScope, type ControlsDeps, changeControls } from './change-controls.ts';
import { requireCovered } from './kept-money.ts';
import { requireRoom } from './policies.ts';
import { findDuplicate } from './policy-store.ts';
import { type NewPolicy, plainCap } from './policy-wish.ts';
import { addPolicy } from './write-policy.ts';

export type PreBorrowWish = {
  /** In its normal spelling. */
  readonly taskId: string;
  readonly amountRaw: bigint;
  readonly ttlSeconds?: number | null | undefined;
};

export type PreBorrow = ReturnType<typeof createPreBorrow>;

/**
 * Keeps money of an agent for one task, for a time: nobody but the task can spend it, and the task no more than it.
 * An ordinary cap on the same task is another thing and stays.
 */
export function createPreBorrow(deps: ControlsDeps) {
  return {
    async keep(scope: AgentScope, wish: PreBorrowWish) {
      return changeControls(deps, scope, async (change) => {
        const { tx, nowSec } = change;
        const ttlSeconds = wish.ttlSeconds ?? LIMITS.preBorrowSeconds.default;
        const policy = keepingPolicy(wish, nowSec + ttlSeconds);
        const held = await findDuplicate(tx, scope, policy, { nowSec });
        if (held !== undefined) throw refuse.controls.taskAlreadyHeld(held);
        await requireRoom(change, scope);
        let policyId = 0;
        await requireCovered(change, { ...policy, agentId: scope.agentId }, async () => {
          policyId = (await addPolicy(change, scope, policy)).id;
        });
        return {
          policyId,
          taskId: wish.taskId,
          limitRaw: wish.amountRaw.toString(),
          expiresAt: nowSec + ttlSeconds,
          expiresAtIso: new Date((nowSec + ttlSeconds) * 1_000).toISOString(),
        };
      });
    },
  };
}

const keepingPolicy = ({ taskId, amountRaw }: PreBorrowWish, expiresAtSec: number): NewPolicy =>
  plainCap({
    ...{ kind: 'task', matchKey: taskId, limitRaw: amountRaw, window: { kind: 'once' } },
    ...{ expiresAtSec, reserves: true },
  });
