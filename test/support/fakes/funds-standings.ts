import type { Ledger } from '../../../src/ledger/rules/ledger.ts';
import { readAt, spendStateOf } from '../../../src/ledger/rules/spend-state.ts';
import type { SpendStateReader } from '../../../src/spend/limits/spend-state.ts';
import { ACTIVE } from './memory-ledger.ts';

/** Standings of agents without any policy, from what a ledger says of their funds. */
export function standingsOfFunds(ledger: Pick<Ledger, 'funds'>): SpendStateReader {
  return {
    readMany: async () => new Map(),
    async read(agentId) {
      const funds = await ledger.funds(agentId);
      if (funds === undefined) return undefined;
      const { spendableRaw, heldRaw } = funds;
      const state = {
        version: 0n,
        rulesVersion: 0n,
        spendableRaw,
        heldRaw,
        counters: [],
        creditedRaw: spendableRaw + heldRaw,
        consumedRaw: 0n,
        walletRaw: 0n,
        promisedRaw: 0n,
      };
      return spendStateOf(readAt({ state, rules: ACTIVE }, 0));
    },
    recall: () => undefined,
    async available(agentIds) {
      const known = await Promise.all(
        agentIds.map(async (id) => [id, (await ledger.funds(id))?.spendableRaw ?? 0n] as const),
      );
      return new Map(known);
    },
  };
}
