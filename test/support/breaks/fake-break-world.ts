import { expect } from 'vitest';
import { createFakeLedger } from '../fake-ledger.ts';
import { breakWorld } from './break-world.ts';
import type { Mode } from './modes.ts';
import type { Goods } from './reckoning.ts';
import type { Tally } from './run-mode.ts';

const AGENT = 1;
/** What may be under way at a time: what one reader may be behind, and what sockets keep. */
const MOST_UNDER_WAY = 16 * 1024 * 1024;

/** The goods, sold on a ledger in memory. */
export async function fakeBreakWorld(goods: readonly Goods[]) {
  const ledger = createFakeLedger();
  await ledger.credit({ agentId: AGENT, amountRaw: 10n ** 13n, reference: 'start' });
  const chargedRaw = async () => {
    const rows = ledger.charges.reduce((sum, { costRaw }) => sum + costRaw, 0n);
    expect(rows).toBe(ledger.consumedRaw(AGENT));
    return rows;
  };
  const books = { chargedRaw, openHolds: async () => ledger.openHolds() };
  return breakWorld({ ledger, books, goods });
}

/** All clients were told what the ledger has, which is what was delivered; who left owes no more than that. */
export function expectBalanced(tally: Tally, { isLeft }: Mode): void {
  expect(tally.runs).toBeGreaterThan(0);
  if (isLeft) expect(tally.ledgerRaw).toBeLessThanOrEqual(tally.owedRaw);
  else expect([tally.toldRaw, tally.owedRaw]).toEqual([tally.ledgerRaw, tally.ledgerRaw]);
  expect(tally.holdsLeft).toBe(0);
  expect(tally.mostUnderWay).toBeLessThan(MOST_UNDER_WAY);
}
