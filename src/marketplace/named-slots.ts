import { marketplaceErrors, OwnRefusal } from './errors.ts';

/** The agent that makes a call, and the agent's account. */
type SlotUser = { readonly agentId: number; readonly accountId: string };

/** Runs work while there is room for it, under one name and for one agent. Throws the refusal when there is no room. */
export type WithSlot = <T>(name: string, guest: SlotUser, run: () => Promise<T>) => Promise<T>;

/**
 * Creates bounds of the calls under way, which are all held in memory: of each name, and of each agent and each account over
 * all names. Otherwise the agents of one account could take all places together, since free services cost them nothing.
 */
export function createNamedSlots({
  inAll,
  perAccount,
  perAgent,
}: {
  readonly inAll: number;
  readonly perAccount: number;
  readonly perAgent: number;
}): WithSlot {
  const byName = new Map<string, number>();
  const byAccount = new Map<string, number>();
  const byAgent = new Map<number, number>();

  function requireRoom(name: string, { accountId, agentId }: SlotUser): void {
    if (countOf(byAgent, agentId) >= perAgent) {
      throw busy(`This agent has ${perAgent} such calls under way, as many as it may.`);
    }
    if (countOf(byAccount, accountId) >= perAccount) {
      throw busy(`The agents of this account have ${perAccount} such calls under way.`);
    }
    if (countOf(byName, name) >= inAll) throw busy('Too many such calls are under way.');
  }
  function count(name: string, { accountId, agentId }: SlotUser, change: 1 | -1): void {
    add(byName, name, change);
    add(byAccount, accountId, change);
    add(byAgent, agentId, change);
  }

  return async (name, guest, run) => {
    requireRoom(name, guest);
    count(name, guest, 1);
    try {
      return await run();
    } finally {
      count(name, guest, -1);
    }
  };
}

const countOf = <K>(counts: ReadonlyMap<K, number>, key: K): number => counts.get(key) ?? 0;

function add<K>(counts: Map<K, number>, key: K, change: 1 | -1): void {
  const count = countOf(counts, key) + change;
  if (count > 0) counts.set(key, count);
  else counts.delete(key);
}

const busy = (detail: string) => new OwnRefusal(marketplaceErrors.vendorBusy(detail));
