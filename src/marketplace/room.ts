import { errors } from '../kernel/errors.ts';
import { createAgentSlots } from '../models/providers/local/agent-slots.ts';
import { OwnRefusal } from './own-refusal.ts';

/** Runs something while there is room for it, under one name and of one agent. Throws the refusal where there is none. */
export type Room = <T>(name: string, agentId: number, run: () => Promise<T>) => Promise<T>;

/** Bounds what is under way, since all of it is held in memory: under each name, and of each agent under all names. */
export function createRoom({
  inAll,
  perAgent,
}: {
  readonly inAll: number;
  readonly perAgent: number;
}): Room {
  const takeSlot = createAgentSlots(perAgent);
  const taken = new Map<string, number>();

  return async (name, agentId, run) => {
    const giveBack = takeSlot(agentId);
    const before = taken.get(name) ?? 0;
    if (giveBack === undefined || before >= inAll) {
      giveBack?.();
      throw new OwnRefusal(
        errors.marketplace.vendorBusy(
          giveBack === undefined
            ? `This agent has ${perAgent} such calls under way, as many as it may.`
            : 'Too many such calls are under way.',
        ),
      );
    }
    taken.set(name, before + 1);
    try {
      return await run();
    } finally {
      const left = (taken.get(name) ?? 0) - 1;
      if (left > 0) taken.set(name, left);
      else taken.delete(name);
      giveBack();
    }
  };
}
