import { describe, expect, it } from 'vitest';
import { lockOrMakeTenant } from '../../../src/memory/tenant-store.ts';
import { forgetAtClose } from '../../../src/memory/tenants.ts';
import type { Queryable, Sql } from '../../../src/platform/postgres/sql.ts';
import { memoryWorld } from '../../support/memory-world.ts';

/** Resolves when so many sessions of the database wait for a lock. */
const untilWaiting = (sql: Sql, count: number) =>
  expect
    .poll(async () => {
      const rows = await sql`select 1 from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`;
      return rows.length;
    })
    .toBe(count);

function gate() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

/** An ingest that has locked the store, and commits when it is let go. */
function lockedIngest(sql: Sql, agentId: number) {
  const [locked, letGo] = [gate(), gate()];
  const done = sql.begin(async (tx: Queryable) => {
    await lockOrMakeTenant(tx, agentId);
    locked.open();
    await letGo.opened;
  });
  return { done, letGo, locked };
}

const close = (sql: Sql, agentId: number) =>
  sql.begin(async (tx) => {
    await tx`update agents set status = 'closed' where id = ${agentId}`;
    await forgetAtClose(tx, agentId);
  });

describe('closing an agent', () => {
  it('closing an agent waits for a running ingest, and a later ingest is refused', async () => {
    for (const hasStore of [true, false]) {
      await using w = await memoryWorld();
      if (hasStore) await w.ask(w.agentId, 'tenant/create', {});
      const first = lockedIngest(w.sql, w.agentId);
      await first.locked.opened;
      const closing = close(w.sql, w.agentId);
      await untilWaiting(w.sql, 1);
      const later = lockedIngest(w.sql, w.agentId);
      const refused = expect(later.done).rejects.toMatchObject({ error: 'tenant_not_found' });
      await untilWaiting(w.sql, 2);
      first.letGo.open();
      await Promise.all([first.done, closing, refused]);
    }
  });
});
