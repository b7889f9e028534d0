import type { Sql, SqlTransaction } from '../../src/platform/postgres/sql.ts';
import type { Point } from './payment-battery.ts';
import type { Call, Stage } from './payment-calls.ts';
import { until } from './payment-world.ts';

const PATIENCE_MS = 90_000;

/** Sends all calls, and kills their server with SIGKILL when each of them stands at the point. Resolves when it is dead. */
export async function killAt(
  point: Point,
  stage: Stage,
  calls: readonly Call[],
  sent: () => Promise<unknown>,
): Promise<void> {
  const { server } = stage.life;
  switch (point.name) {
    case 'delivered':
      return withAnswers(stage, calls, sent(), () => allMarked(stage, calls));
    case 'unmarked':
      return unmarked(stage, calls, sent);
    case 'sending': {
      server.hold({ step: 'sending', count: calls.length, last: 'tells' });
      const lost = sent();
      await server.held();
      await allMarked(stage, calls);
      await server.kill();
      await lost;
      return;
    }
    default: {
      if (point.step === undefined) throw new Error(`nothing is held at ${point.name}`);
      // What is relayed while it is booked must not be out before.
      const more = point.step === 'booked' ? { meanwhile: 'answering' as const } : {};
      server.hold({ step: point.step, count: calls.length, last: 'dies', ...more });
      const lost = sent();
      await server.died(PATIENCE_MS);
      await lost;
    }
  }
}

/** Kills while every vendor has its payment, has settled what it settles at once, and keeps its answer back. */
async function withAnswers(
  { life, vendor }: Stage,
  calls: readonly Call[],
  lost: Promise<unknown>,
  moreover: () => Promise<void>,
): Promise<void> {
  const settling = calls.filter(({ row: { mode } }) => SETTLES_FIRST.has(mode.leg.settle ?? ''));
  const hasAll = async () =>
    calls.every(({ url }) => vendor.nonces(url).length === 1) &&
    vendor.settlements.filter(({ moved }) => moved).length === settling.length;
  await until(hasAll, PATIENCE_MS, () => 'the payments');
  await moreover();
  await life.server.kill();
  await lost;
  for (const { url } of calls) vendor.release(url);
}

const SETTLES_FIRST = new Set(['first', 'stolen']);

/** What is on its way is noted without being waited for; here the database takes the note only when it is too late. */
async function unmarked(
  stage: Stage,
  calls: readonly Call[],
  sent: () => Promise<unknown>,
): Promise<void> {
  const { server, sql } = stage.life;
  server.hold({ step: 'reserved', count: calls.length, last: 'tells' });
  const lost = sent();
  await server.held();
  const ids = calls.map(({ agentId }) => agentId);
  const unlock = await keepLocked(
    sql,
    (tx) => tx`select 1 from agent_funds where agent_id = any(${ids}) for update`,
  );
  server.go();
  await withAnswers(stage, calls, lost, async () => {});
  // What the dead process had asked for must not be carried out once the rows are free.
  await sql`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`;
  await unlock();
}

/** Keeps what `lock` takes until it is let go. */
async function keepLocked(sql: Sql, lock: (tx: SqlTransaction) => Promise<unknown>) {
  let letGo = () => {};
  const kept = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  let isLocked = () => {};
  const locked = new Promise<void>((resolve) => {
    isLocked = resolve;
  });
  const over = sql.begin(async (tx) => {
    await lock(tx);
    isLocked();
    await kept;
  });
  await locked;
  return () => {
    letGo();
    return over;
  };
}

const allMarked = ({ life }: Stage, calls: readonly Call[]): Promise<void> =>
  until(
    async () => {
      const [row] = await life.sql<{ count: number }[]>`
        select count(*)::int as count from reservations where state = 'sent'`;
      return row?.count === calls.length;
    },
    PATIENCE_MS,
    () => 'the marks of what was sent',
  );
