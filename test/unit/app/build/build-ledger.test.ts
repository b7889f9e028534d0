import { describe, expect, it } from 'vitest';
import { buildLedger } from '../../../../src/app/build/build-ledger.ts';
import type { World } from '../../../../src/app/build/world.ts';
import { createMetrics } from '../../../../src/http/server/metrics.ts';
import { silentLog } from '../../../../src/kernel/log.ts';
import { systemRandom } from '../../../../src/kernel/random.ts';
import { Teardown } from '../../../../src/kernel/teardown.ts';
import type { Sql } from '../../../../src/platform/postgres/sql.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

describe('the ledger of a process', () => {
  it('the ledger of a process stops without waiting for a self-check that hangs', async () => {
    let hanging = 0;
    const sql = (async (text: TemplateStringsArray) => {
      if (!text.join('?').includes('max(agent_id)')) return [{ epoch: 1 }];
      hanging++;
      return new Promise(() => {});
    }) as unknown as Sql;
    const world = {
      sql,
      ledgerSql: sql,
      clock: new ManualClock(),
      log: silentLog,
      random: systemRandom,
      metrics: createMetrics({ withProcess: false }),
    } as unknown as World;
    const teardown = new Teardown();
    await buildLedger(world, teardown);
    expect(hanging).toBe(1);
    await teardown[Symbol.asyncDispose]();
  });
});
