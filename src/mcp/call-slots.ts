import { mcpErrors } from './errors.ts';
import { MCP_LIMITS } from './limits.ts';

/** Limits the tool calls that one agent has in progress, over all its requests. */
export function createToolSlots(most: number = MCP_LIMITS.callsPerAgent) {
  const underWay = new Map<number, number>();
  return {
    /** Runs a call. Throws a 429 when the agent has the maximum number of calls in progress. */
    async take<T>(agentId: number, work: () => Promise<T>): Promise<T> {
      const taken = underWay.get(agentId) ?? 0;
      if (taken >= most) throw mcpErrors.tooManyCalls(most);
      underWay.set(agentId, taken + 1);
      try {
        return await work();
      } finally {
        const left = (underWay.get(agentId) ?? 1) - 1;
        if (left > 0) underWay.set(agentId, left);
        else underWay.delete(agentId);
      }
    },
    /** Number of agents with calls in progress. */
    get size() {
      return underWay.size;
    },
  };
}
