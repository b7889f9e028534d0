import { BalanceActor, type BalanceActorDeps } from './balance-actor.ts';
import { LEDGER_LIMITS } from './limits.ts';

export type BalanceActors = {
  of(agentId: number): BalanceActor;
  find(agentId: number): BalanceActor | undefined;
  all(): Iterable<BalanceActor>;
  evict(agentId: number): void;
  readonly size: number;
};

/**
 * Keeps the balance actors of this process, the last used actor at the end. Beyond the bound, the first idle actor is evicted;
 * its next use costs a read. While all actors are busy the bound is exceeded, by no more than the inbox holds.
 */
export function createBalanceActors(
  deps: Omit<BalanceActorDeps, 'agentId' | 'onGone'>,
  bound: number = LEDGER_LIMITS.actors.most,
): BalanceActors {
  const actors = new Map<number, BalanceActor>();

  function evict(agentId: number): void {
    actors.get(agentId)?.stop();
    actors.delete(agentId);
  }

  function makeRoom(): void {
    if (actors.size < bound) return;
    for (const [agentId, actor] of actors) {
      if (!actor.isIdle()) continue;
      evict(agentId);
      return;
    }
  }

  return {
    of(agentId) {
      const known = actors.get(agentId);
      if (known !== undefined) {
        // Re-inserting keeps the map in the order of use. The order matters only when the map is filling up.
        if (actors.size > bound / 2) {
          actors.delete(agentId);
          actors.set(agentId, known);
        }
        return known;
      }
      makeRoom();
      const actor = new BalanceActor({
        ...deps,
        agentId,
        onGone: () => {
          if (actors.get(agentId) === actor) actors.delete(agentId);
        },
      });
      actors.set(agentId, actor);
      return actor;
    },
    find: (agentId) => actors.get(agentId),
    all: () => actors.values(),
    evict,
    get size() {
      return actors.size;
    },
  };
}
