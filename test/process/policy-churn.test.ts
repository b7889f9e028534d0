import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createInvalidations } from '../../src/accounts/keys/invalidations.ts';
import { silentLog } from '../../src/kernel/log.ts';
import { checkInvariants } from '../../src/ledger/store/check-invariants.ts';
import { decodeCounters } from '../../src/ledger/store/counter-codec.ts';
import { openSql } from '../../src/platform/postgres/sql.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { exhaustive } from '../support/exhaustive.ts';
import { seedAgents } from '../support/ledger-world.ts';
import { type Churn, editAtRandom, ledgerOf, spendAtRandom } from '../support/policy-churn.ts';

const LASTS_MS = exhaustive ? 60_000 : 10_000;

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database[Symbol.asyncDispose]());

async function deadlocks(): Promise<number> {
  await database.sql`select pg_stat_clear_snapshot()`;
  const [row] = await database.sql<{ deadlocks: bigint }[]>`
    select deadlocks from pg_stat_database where datname = current_database()`;
  return Number(row?.deadlocks ?? 0n);
}

describe('policies that come and go while money is held under them', () => {
  it('policies that change while two processes hold money under them never deadlock and end with nothing held', async () => {
    const { sql } = database;
    const agents = await seedAgents(sql, 5);
    const [account] = await sql<{ account_id: string }[]>`
      select account_id from agents where id = ${agents[0]?.agentId ?? 0}`;
    const accountId = account?.account_id ?? '';
    const other = openSql(database.target, 6);
    const ledgers = [ledgerOf(sql, 'a'), ledgerOf(other, 'b')];
    const [first] = ledgers;
    for (const { agentId } of agents) {
      await first?.credit({ agentId, amountRaw: 1_000_000n, reference: `churn ${agentId}` });
    }
    const churn: Churn = { held: 0, refused: 0, settled: 0, edits: 0 };
    const until = performance.now() + LASTS_MS;
    const invalidations = createInvalidations({ sql, log: silentLog });
    const stopAndGo = async () => {
      while (performance.now() < until) {
        const agentId = agents[Math.floor(Math.random() * agents.length)]?.agentId ?? 0;
        for (const status of ['suspended', 'active']) {
          await invalidations.commit({ kind: 'agent_changed', agentId }, async (tx) => {
            await tx`update agents set status = ${status} where id = ${agentId}`;
            return true;
          });
          await new Promise((resolve) => setTimeout(resolve, 20));
        }
      }
    };
    await Promise.all([
      ...ledgers.flatMap((ledger, l) =>
        Array.from({ length: 12 }, (_, c) =>
          spendAtRandom(ledger, agents, `churn-${l}-${c}`, until, churn),
        ),
      ),
      editAtRandom(sql, { accountId, agents }, until, churn),
      editAtRandom(other, { accountId, agents }, until, churn),
      stopAndGo(),
    ]);
    for (const ledger of ledgers) await ledger[Symbol.asyncDispose]();
    await other.end();

    const seconds = LASTS_MS / 1_000;
    // Enough of each for the races to happen, also on a machine that is busy with other tests.
    expect(churn.held).toBeGreaterThan(5 * seconds);
    expect(churn.refused).toBeGreaterThan(seconds);
    expect(churn.edits).toBeGreaterThan(seconds);
    expect(churn.settled).toBe(churn.held);
    expect(await checkInvariants(sql)).toEqual([]);
    const rows = await sql<{ counters: string | null }[]>`select counters from agent_funds`;
    const held = rows.flatMap((row) => decodeCounters(row.counters)).map((c) => c.heldRaw);
    const team = await sql<{ held_raw: bigint }[]>`select held_raw from team_counters`;
    expect(new Set([...held, ...team.map((row) => row.held_raw)])).toEqual(new Set([0n]));
    // What a backend has counted is told a second after it is done.
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    expect(await deadlocks()).toBe(0);
  }, 120_000);
});
