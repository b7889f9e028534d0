/**
 * Takes a slot for an agent, and returns a function that frees it; further calls of that function do nothing. Undefined when
 * all slots of the agent are taken.
 */
export type TakeAgentSlot = (agentId: number | undefined) => (() => void) | undefined;

/** Counts the requests of each agent that a shared engine is working on. Calls without an agent count as one agent's. */
export function createAgentSlots(most: number): TakeAgentSlot {
  const taken = new Map<number | undefined, number>();
  return (agentId) => {
    const held = taken.get(agentId) ?? 0;
    if (held >= most) return undefined;
    taken.set(agentId, held + 1);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      const left = (taken.get(agentId) ?? 0) - 1;
      if (left > 0) taken.set(agentId, left);
      else taken.delete(agentId);
    };
  };
}
