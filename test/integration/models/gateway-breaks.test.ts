import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { breakWorld } from '../../support/breaks/break-world.ts';
import { GOODS } from '../../support/breaks/goods.ts';
import { modesOf } from '../../support/breaks/modes.ts';
import { lineOf, runMode } from '../../support/breaks/run-mode.ts';
import { createFakeLedger } from '../../support/fake-ledger.ts';

const AGENT = 1;
/** What may be under way at a time: what one reader may be behind, and what sockets keep. */
const MOST_UNDER_WAY = 16 * 1024 * 1024;

const ledger = createFakeLedger();
let world: Awaited<ReturnType<typeof breakWorld>>;
beforeAll(async () => {
  await ledger.credit({ agentId: AGENT, amountRaw: 10n ** 13n, reference: 'start' });
  const chargedRaw = async () => {
    const rows = ledger.charges.reduce((sum, { costRaw }) => sum + costRaw, 0n);
    expect(rows).toBe(ledger.consumedRaw(AGENT));
    return rows;
  };
  const books = { chargedRaw, openHolds: async () => ledger.openHolds() };
  world = await breakWorld({ ledger, books, goods: GOODS });
});
afterAll(() => world[Symbol.asyncDispose]());

describe.each(GOODS)('$name of an upstream that misbehaves', (goods) => {
  it.for(modesOf(goods, 16))(
    'is charged as it was delivered, and reaches its client unchanged: $name',
    async (mode, { annotate }) => {
      const tally = await runMode(world, goods, mode);
      await annotate(lineOf(tally));
      expect(tally.runs).toBeGreaterThan(0);
      if (mode.isLeft) expect(tally.ledgerRaw).toBeLessThanOrEqual(tally.owedRaw);
      else expect([tally.toldRaw, tally.owedRaw]).toEqual([tally.ledgerRaw, tally.ledgerRaw]);
      expect(tally.holdsLeft).toBe(0);
      expect(tally.mostUnderWay).toBeLessThan(MOST_UNDER_WAY);
    },
  );
});
