import { type Clock, isoTime } from '../../kernel/clock.ts';
import type { Log } from '../../kernel/log.ts';
import type { Sql } from '../../platform/postgres/sql.ts';
import { findRedAlarms, raiseAlarm } from './alarm-store.ts';
import { findDevelopers, findProcesses } from './operator-store.ts';

export type OperatorReports = ReturnType<typeof createOperatorReports>;

const PROCESSES_SHOWN = 1_000;

/** Creates the operator's views of all accounts and processes, and of the alarms that are red. */
export function createOperatorReports({
  clock,
  sql,
}: {
  readonly clock: Clock;
  readonly sql: Sql;
}) {
  return {
    /** Returns a page of accounts by id. `next` is the last account of the page, and undefined on the last page. */
    async developers({ after, limit }: { readonly after: string; readonly limit: number }) {
      const found = await findDevelopers(sql, { after, limit: limit + 1 });
      const developers = found.slice(0, limit);
      return {
        developers: developers.map((row) => ({
          ...row,
          createdAt: row.createdAt.toISOString(),
          spendableRaw: String(row.spendableRaw),
          heldRaw: String(row.heldRaw),
          consumedRaw: String(row.consumedRaw),
        })),
        next: found.length > limit ? developers.at(-1)?.accountId : undefined,
      };
    },

    async processes() {
      const processes = await findProcesses(sql, PROCESSES_SHOWN);
      return {
        processes: processes.map(({ leaseUntil, startedAt, ...row }) => ({
          ...row,
          startedAt: startedAt?.toISOString() ?? null,
          leaseUntil: leaseUntil.toISOString(),
        })),
      };
    },

    async alarms() {
      const alarms = await findRedAlarms(sql);
      return {
        checkedAt: isoTime(clock.now()),
        alarms: alarms.map(({ since, ...alarm }) => ({ ...alarm, since: since.toISOString() })),
      };
    },
  };
}

/** Returns the function that raises alarms. A failure is logged and not awaited; equal alarms of one write are one. */
export function createAlarmBell({ log, sql }: { readonly log: Log; readonly sql: Sql }) {
  const ringing = new Set<string>();
  return (name: string): void => {
    if (ringing.has(name)) return;
    ringing.add(name);
    raiseAlarm(sql, name)
      .catch((err: unknown) => log.error({ err, name }, 'an alarm could not be written'))
      .finally(() => ringing.delete(name));
  };
}
