import type { Config } from '../../config/config.ts';
import { type Clock, systemClock, within } from '../../kernel/clock.ts';
import type { Log } from '../../kernel/log.ts';
import { type Random, systemRandom } from '../../kernel/random.ts';
import { awaitServer, DatabaseUnreachable } from './await-server.ts';
import { startEmbedded } from './embedded/embedded-server.ts';
import { migrateDatabase } from './migrate.ts';
import { BY_KEY, type DatabaseTarget, openSql, type Sql } from './sql.ts';

const DEFAULT_CONNECTIONS = 10;
/** Connections of the ledger's pool: for two ledger calls under way, and for agents that are loaded or locked meanwhile. */
const LEDGER_CONNECTIONS = 6;
const CLOSE_WITHIN_SECONDS = 5;
const PING_WITHIN_MS = 5_000;

export type Database = AsyncDisposable & {
  readonly target: DatabaseTarget;
  readonly sql: Sql;
  /** Pool of the ledger alone, so that no report delays a payment. Its plans reach each row by its key. */
  readonly ledgerSql: Sql;
  /** Brings the schema up to date. Changes nothing when the schema is up to date. */
  migrate(): Promise<void>;
  /** Returns the milliseconds of one round trip through the pool. Rejects after five seconds. */
  ping(): Promise<number>;
};

export type OpenDatabaseOptions = {
  readonly database: Config['database'] | DatabaseTarget;
  readonly log: Log;
  readonly connections?: number;
  /** True for command-line tools, which may use the embedded server of a running process; a server may not. */
  readonly adopt?: boolean;
  readonly clock?: Clock;
  readonly random?: Random;
  /** Signal that ends a start under way, and the wait for a server that does not answer. */
  readonly signal?: AbortSignal | undefined;
};

/** Opens the database: starts the embedded server for a directory, waits for the server of a URL. */
export async function openDatabase(options: OpenDatabaseOptions): Promise<Database> {
  const { log, clock = systemClock, random = systemRandom, signal } = options;
  const { target, server } = await reachServer(options, clock, random);
  const sql = openSql(target, options.connections ?? DEFAULT_CONNECTIONS);
  const ledgerSql = openSql(target, LEDGER_CONNECTIONS, BY_KEY);

  async function close(): Promise<void> {
    const timeout = CLOSE_WITHIN_SECONDS;
    await Promise.all([sql.end({ timeout }), ledgerSql.end({ timeout })]);
    await server?.[Symbol.asyncDispose]();
  }

  async function ping(): Promise<number> {
    const startMs = clock.monotonicMs();
    await within(clock, PING_WITHIN_MS, sql`select 1`, () => {
      throw new DatabaseUnreachable('The database does not answer.');
    });
    return clock.monotonicMs() - startMs;
  }

  try {
    await awaitServer(target, { clock, log, signal });
  } catch (error) {
    await close();
    throw error;
  }
  return {
    target,
    sql,
    ledgerSql,
    ping,
    migrate: () => migrateDatabase(target),
    [Symbol.asyncDispose]: close,
  };
}

async function reachServer(
  { database, log, adopt = false, signal }: OpenDatabaseOptions,
  clock: Clock,
  random: Random,
): Promise<{ target: DatabaseTarget; server?: AsyncDisposable }> {
  if (database.kind !== 'directory') return { target: database };
  const server = await startEmbedded({
    directory: database.path,
    clock,
    random,
    log,
    adopt,
    signal,
  });
  return { target: server.target, server };
}
