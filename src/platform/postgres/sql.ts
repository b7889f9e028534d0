import type postgres from 'postgres';
import { ARRAY_TYPES } from './array-types.ts';
import { driver } from './driver.ts';
import { POSTGRES_LIMITS } from './limits.ts';

/** Connection pool of the one database driver, for the embedded server and for a URL alike. */
export type Sql = postgres.Sql;
export type SqlTransaction = postgres.TransactionSql;
/** Connection of a store function: a pool or an open sql transaction. */
export type Queryable = Sql | SqlTransaction;

/** Address of a PostgreSQL server: a URL, or the socket directory of the embedded server. */
export type DatabaseTarget =
  | { readonly kind: 'url'; readonly url: string }
  | {
      readonly kind: 'socket';
      readonly directory: string;
      readonly user: string;
      readonly database: string;
    };

/** Settings of a pool whose statements reach every table by its key, even a table that was small when the plan was made. */
export const BY_KEY = {
  enable_seqscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  plan_cache_mode: 'force_generic_plan',
} as const;

/**
 * Opens a pool of at most `connections` connections, with `settings` on each. Bigint columns arrive as `bigint`. A statement
 * without a free connection waits in the driver's queue.
 */
export function openSql(
  target: DatabaseTarget,
  connections: number,
  settings: Readonly<Record<string, string>> = {},
): Sql {
  const options = {
    max: connections,
    types: { bigint: driver.BigInt, ...ARRAY_TYPES },
    fetch_types: false,
    onnotice: () => {},
    connect_timeout: 10,
    backoff: reconnectAfterSeconds,
    idle_timeout: 0,
    max_lifetime: null,
    // A process that is frozen in a sql transaction must not keep its rows from other processes for ever.
    connection: {
      idle_in_transaction_session_timeout: POSTGRES_LIMITS.idleInTransactionMs,
      ...settings,
    },
  } as const;
  if (target.kind === 'url') return driver(target.url, options) as unknown as Sql;
  return driver({
    ...options,
    host: target.directory,
    port: 5432,
    user: target.user,
    database: target.database,
  }) as unknown as Sql;
}

/**
 * Returns the wait before the driver reconnects, one second at most. The driver counts failures over all connections of a pool
 * and by itself soon waits 20 s: a database that is back must be found within a second.
 */
const reconnectAfterSeconds = (failures: number): number => Math.min(1, 0.02 * failures);
