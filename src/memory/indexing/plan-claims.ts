import { MEMORY_LIMITS } from '../limits.ts';
import type { Looked, Queue } from './indexing-store.ts';

export type ClaimPlan = {
  /** Namespaces to claim items from, one of each agent before the second of any agent. */
  readonly queues: readonly Queue[];
  /** Id of the last agent that this search has examined. */
  readonly after: number;
  /** The last examined namespace by agent. Undefined when the next look begins at the agent's first namespace. */
  readonly places: ReadonlyMap<number, number | undefined>;
};

/**
 * Chooses namespaces to claim from: at most `room`, none that is busy, and for each agent no more than it may have in progress.
 * Agents without room are examined first next time.
 */
export function planClaims(
  looked: Looked,
  { busy, room }: { readonly busy: ReadonlyMap<number, number>; readonly room: number },
): ClaimPlan {
  const { spacesAtOncePerAgent } = MEMORY_LIMITS.indexing;
  const underWay = new Map<number, number>();
  for (const agentId of busy.values()) underWay.set(agentId, (underWay.get(agentId) ?? 0) + 1);
  const rounds: Queue[][] = Array.from({ length: spacesAtOncePerAgent }, () => []);
  const places = new Map<number, number | undefined>();
  let after = 0;
  for (const [agentId, queues] of looked) {
    if ((rounds[0]?.length ?? 0) >= room) break;
    after = agentId;
    const may = spacesAtOncePerAgent - (underWay.get(agentId) ?? 0);
    if (may <= 0) continue;
    const mine = queues.filter(({ isDue, spaceId }) => isDue && !busy.has(spaceId)).slice(0, may);
    for (const [n, queue] of mine.entries()) rounds[n]?.push(queue);
    places.set(agentId, placeBehind(queues, mine));
  }
  const queues = rounds.flat().slice(0, room);
  // A second namespace for which `room` did not suffice is examined again next time.
  for (const left of rounds.flat().slice(room)) places.set(left.agentId, left.spaceId - 1);
  return { queues, after, places };
}

/**
 * Returns the namespace after which the agent's next search begins: the last claimed namespace, or else the last examined one.
 * Undefined when all namespaces were examined, so that the search begins at the first.
 */
function placeBehind(queues: readonly Queue[], mine: readonly Queue[]): number | undefined {
  const last = mine.at(-1);
  if (last !== undefined) return last.spaceId;
  return queues.length < MEMORY_LIMITS.indexing.spacesPerLook ? undefined : queues.at(-1)?.spaceId;
}
