import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { silentLog } from '../../../src/kernel/log.ts';
import type { Sql } from '../../../src/platform/postgres/sql.ts';
import { REPORT_LIMITS } from '../../../src/reports/limits.ts';
import { createRefusalLog, refusalKey } from '../../../src/reports/refusals/refusal-log.ts';
import {
  createRefusalReports,
  refusalWorkers,
} from '../../../src/reports/refusals/refusal-reports.ts';
import { saveRefusals } from '../../../src/reports/refusals/refusal-store.ts';
import { controlErrors } from '../../../src/spend/errors.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { ManualClock } from '../../support/manual-clock.ts';

let database: TestDatabase;
let sql: Sql;
beforeAll(async () => {
  database = await testDatabase();
  sql = database.sql;
});
afterAll(() => database[Symbol.asyncDispose]());

const poor = controlErrors.insufficientBalance('3', '12');
const unlisted = controlErrors.hostNotAllowlisted('x.test');
const NOW_MS = Date.parse('2026-11-29T12:00:00.000Z');

/** One process's log on the database. */
const processLog = (atMs = NOW_MS) =>
  createRefusalLog({
    clock: new ManualClock(atMs),
    log: silentLog,
    save: async (batch) =>
      (await saveRefusals(sql, batch)).map(({ agentId, day }) => refusalKey(agentId, day)),
  });

describe('refusals in the database', () => {
  it('the counts of two processes add up, and an agent has 1,000 rows of a day between them', async () => {
    const { rowsPerDay } = REPORT_LIMITS.refusals;
    const processes = [processLog(), processLog()];
    const reports = createRefusalReports({ sql });
    let sent = 0;
    for (let round = 0; round < 4; round++) {
      for (const log of processes) {
        for (let i = 0; i < 150; i++) {
          sent++;
          log.note({ agentId: 1, requestId: `req_${sent}` }, i % 3 === 0 ? unlisted : poor);
        }
        log.note({ agentId: 2, requestId: `req_two_${sent}` }, unlisted);
      }
      await Promise.all(processes.map((log) => log.flush()));
    }
    expect(sent).toBe(rowsPerDay + 200);
    const { byDay, byReason, total } = await reports.counts({ agentIds: [1] });
    expect(total).toBe(sent);
    expect(byReason).toEqual([
      { reason: 'insufficient_balance', count: (sent / 3) * 2 },
      { reason: 'host_not_allowlisted', count: sent / 3 },
    ]);
    expect(byDay).toEqual([{ day: '2026-11-29', count: sent }]);
    expect((await reports.counts({ agentIds: [1, 2], until: '2026-11-28' })).total).toBe(0);
    expect((await reports.counts({ agentIds: [1, 2], since: '2026-11-29' })).total).toBe(sent + 8);

    const seen = new Set<string>();
    let before: bigint | undefined;
    for (;;) {
      const page = await reports.rows({ agentIds: [1], before, limit: 300 });
      for (const row of page) seen.add(row.requestId);
      before = page.at(-1)?.id;
      if (before === undefined) break;
    }
    expect(seen.size).toBe(rowsPerDay);
    expect(await reports.rows({ agentIds: [1, 2], limit: 1 })).toHaveLength(1);
  });

  it('a row has the request, the policy and the amounts', async () => {
    const log = processLog();
    const fields = { policyId: 7, kind: 'task', available: '5', required: '9' };
    log.note({ agentId: 3, requestId: 'req_cap\0' }, controlErrors.policyExceeded('x', fields));
    await log.flush();
    const [row] = await createRefusalReports({ sql }).rows({ agentIds: [3], limit: 10 });
    expect(row).toMatchObject({
      agentId: 3,
      at: new Date(NOW_MS),
      reason: 'policy',
      policyId: 7,
      host: null,
      requiredRaw: 9n,
      availableRaw: 5n,
    });
  });

  it('rows older than 30 days are deleted, and their counts stay', async () => {
    const old = processLog(Date.now() - 31 * 86_400_000);
    old.note({ agentId: 4, requestId: 'req_old' }, poor);
    await old.flush();
    const fresh = processLog(Date.now());
    fresh.note({ agentId: 4, requestId: 'req_new' }, poor);
    await fresh.flush();
    for (const worker of refusalWorkers({ sql, log: fresh })) await worker.tick();
    const reports = createRefusalReports({ sql });
    const rows = await reports.rows({ agentIds: [4], limit: 10 });
    expect(rows.map(({ requestId }) => requestId)).toEqual(['req_new']);
    expect((await reports.counts({ agentIds: [4] })).total).toBe(2);
  });
});
