import { errors } from '../kernel/errors.ts';
import { LIMITS } from '../kernel/limits.ts';

/** Limits the tool calls that one agent has under way, over all its requests. */
export function createToolSlots(most: number = LIMITS.mcp.callsPerAgent) {
  const underWay = new Map<number, number>();
  return {
    /** Throws a 429 where the agent has as many under way as it may. */
    async take<T>(agentId: number, work: () => Promise<T>): Promise<T> {
      const taken = underWay.get(agentId) ?? 0;
      if (taken >= most) throw errors.mcp.tooManyCalls(most);
      underWay.set(agentId, taken + 1);
      try {
        return await work();
      } finally {
        const left = (underWay.get(agentId) ?? 1) - 1;
        if (left > 0) underWay.set(agentId, left);
        else underWay.delete(agentId);
      }
    },
    /** Agents that have calls under way. */
    get size() {
      return underWay.size;
    },
  };
}
