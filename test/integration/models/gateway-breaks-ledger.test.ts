import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/kernel/clock.ts';
import { silentLog } from '../../../src/kernel/log.ts';
import { createLedger, type LiveLedger } from '../../../src/ledger/engine/ledger.ts';
import { createBalanceStore } from '../../../src/ledger/store/balances.ts';
import { checkInvariants } from '../../../src/ledger/store/check-invariants.ts';
import { breakWorld } from '../../support/breaks/break-world.ts';
import { GOODS as OTHER_GOODS } from '../../support/breaks/goods.ts';
import { modesOf } from '../../support/breaks/modes.ts';
import { RESPONSE_GOODS } from '../../support/breaks/response-goods.ts';
import { lineOf, runMode } from '../../support/breaks/run-mode.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { exhaustive } from '../../support/exhaustive.ts';
import { seedAgent } from '../../support/ledger-world.ts';

const GOODS = [...OTHER_GOODS, ...RESPONSE_GOODS];
/** What is told by many runs alike is told by the ledger in memory. */
const MOST_RUNS = 60;
/** Scripts of a mode that `npm test` plays. */
const ROWS = 6;
const FUNDS = 10n ** 13n;

let database: TestDatabase;
let ledger: LiveLedger;
let world: Awaited<ReturnType<typeof breakWorld>>;
let agentId = 0;

beforeAll(async () => {
  database = await testDatabase();
  const store = createBalanceStore({
    sql: database.sql,
    node: { nodeId: 'breaks-test', leaseEpoch: 1 },
  });
  ledger = createLedger({ store, clock: systemClock, log: silentLog });
  const agent = await seedAgent(database.sql);
  agentId = agent.agentId;
  await ledger.credit({ agentId, amountRaw: FUNDS, reference: 'start' });
  world = await breakWorld({ ledger, ...agent, goods: GOODS, books: { chargedRaw, openHolds } });
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
  await ledger[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

async function chargedRaw(): Promise<bigint> {
  const [row] = await database.sql<{ rows: bigint; spent: bigint }[]>`
    select consumed_raw as spent,
      (select coalesce(sum(cost_raw), 0)::bigint from charges c where c.agent_id = f.agent_id)
        as rows
    from agent_funds f where agent_id = ${agentId}`;
  expect(row?.rows).toBe(row?.spent);
  return row?.spent ?? -1n;
}

async function openHolds(): Promise<number> {
  const [row] = await database.sql<{ open: number }[]>`
    select count(*)::int as open from holds where agent_id = ${agentId}`;
  return row?.open ?? -1;
}

describe('upstreams that misbehave, on the durable ledger', () => {
  it.for([
    ['chats, messages, speech and transcripts', OTHER_GOODS, exhaustive ? 500 : 150],
    ['responses', RESPONSE_GOODS, exhaustive ? 150 : 40],
  ] as const)(
    'misbehaving upstreams of %s leave each receipt in the durable ledger, no open hold, and no self-check finding',
    { timeout: 240_000 },
    async ([, goodsOfKind, leastRuns], { annotate }) => {
      const before = await chargedRaw();
      const total = { runs: 0, ledgerRaw: 0n };
      for (const goods of goodsOfKind) {
        for (const mode of modesOf(goods, 32, ROWS)) {
          if (mode.scripts.length > MOST_RUNS) continue;
          const tally = await runMode(world, goods, mode);
          await annotate(lineOf(tally));
          total.runs += tally.runs;
          total.ledgerRaw += tally.ledgerRaw;
          expect(tally.holdsLeft).toBe(0);
          if (mode.isLeft) expect(tally.ledgerRaw).toBeLessThanOrEqual(tally.owedRaw);
          else expect([tally.toldRaw, tally.owedRaw]).toEqual([tally.ledgerRaw, tally.ledgerRaw]);
        }
      }
      expect(total.runs).toBeGreaterThan(leastRuns);
      const charged = await chargedRaw();
      expect(charged - before).toBe(total.ledgerRaw);
      expect(await ledger.funds(agentId)).toMatchObject({
        spendableRaw: FUNDS - charged,
        heldRaw: 0n,
      });
      expect(await openHolds()).toBe(0);
      expect(await checkInvariants(database.sql)).toEqual([]);
      await annotate(`${total.runs} runs, ${total.ledgerRaw} raw charged`);
    },
  );
});
