import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { createSpendReports } from '../../src/reports/spend-reports.ts';
import { seededChance, seedsToRun } from '../simulation/seeded.ts';
import { joined } from '../support/compiled.ts';
import { testDatabase } from '../support/database.ts';
import { seedAgents } from '../support/ledger-world.ts';
import { nextMessage } from '../support/next-message.ts';
import { readRows, sumRows } from '../support/report-rows.ts';

const KILLS = 8;
const CHARGES = 3_000;

it('reports stay exact while two processes roll up and are killed 8 times', async () => {
  const [seed = 1] = seedsToRun(1);
  const chance = seededChance(seed);
  await using database = await testDatabase();
  const { sql, target } = database;
  const agentIds = (await seedAgents(sql, 3)).map(({ agentId }) => agentId);
  const ids = agentIds.map(String);
  await sql`insert into report_cursors (agent_id, charge_id)
    select id, 0 from unnest(${ids}::integer[]) as a(id)`;
  await sql`
    insert into charges (agent_id, posting_id, target_url, target_host, method, status, cost_raw,
      usage, task_id, customer_id, latency_ms, created_at)
    select (${ids}::integer[])[1 + i % 3], 'x', 'gateway://acme/m', 'acme', 'POST',
      case when i % 11 = 0 then 'failed' else 'success' end, i, '{}', 'task ' || i % 40,
      'customer ' || i % 7, i, timestamptz '2026-11-01T00:00:00Z' + i * interval '10 minutes'
    from generate_series(1, ${CHARGES}) as g(i)`;

  const start = async (): Promise<ChildProcess> => {
    const child = fork(
      joined('test/support/roll-up-child.ts'),
      [JSON.stringify(target), JSON.stringify(agentIds)],
      { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] },
    );
    await nextMessage(child);
    return child;
  };
  const check = () =>
    sql.begin('isolation level repeatable read', async (tx) => {
      const rows = await readRows(tx, agentIds);
      const reports = createSpendReports({ sql: tx });
      const { rows: told } = await reports.totals({ agentIds, groupBy: 'task' });
      const expected = new Map(
        told.map(({ key }) => [key, sumRows(rows.filter(({ task }) => task === key))]),
      );
      expect(new Map(told.map(({ key, ...sums }) => [key, sums]))).toEqual(expected);
      const { total } = await reports.totals({ agentIds, groupBy: 'day' });
      expect(total, `SEED=${seed}`).toEqual(sumRows(rows));
      expect((await reports.latency({ agentIds })).calls).toBe(CHARGES);
    });

  const behind = async () => {
    const [left] = await sql<{ behind: number }[]>`
      select count(*)::integer as behind from charges c
        join report_cursors r on r.agent_id = c.agent_id where c.id > r.charge_id`;
    return left?.behind ?? 0;
  };

  let killedMidway = 0;
  const children = [await start(), await start()];
  for (let kill = 0; kill < KILLS; kill++) {
    await new Promise((resolve) => setTimeout(resolve, chance.below(30)));
    const [victim] = children.splice(0, 1);
    const exited = victim && once(victim, 'exit');
    victim?.kill('SIGKILL');
    await exited;
    if ((await behind()) > 0) killedMidway++;
    await check();
    children.push(await start());
  }
  expect(killedMidway).toBeGreaterThan(0);
  await expect.poll(behind, { timeout: 30_000 }).toBe(0);
  await check();
  for (const child of children) {
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  }
});
