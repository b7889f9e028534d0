import { index, integer, pgTable, primaryKey, text } from 'drizzle-orm/pg-core';
import { bytea, id, instant, now, raw } from '../columns.ts';

/** Idempotency keys with their stored answers, and keys whose work is under way. Pruned ten minutes after the answer. */
export const idempotencyKeys = pgTable(
  'idempotency_keys',
  {
    /** `agent:<id>` or `account:<id>`. */
    owner: id('owner').notNull(),
    key: id('key').notNull(),
    method: text('method').notNull(),
    path: text('path').notNull(),
    /** Id of the work, by which its holds are found when its process is gone. */
    workId: id('work_id').notNull(),
    nodeId: id('node_id').notNull(),
    leaseEpoch: integer('lease_epoch').notNull(),
    /** `in_flight`, or `done` with the answer. */
    state: text('state').notNull(),
    /** Record of status, headers and body (msgpackr); null when the answer was too long to keep. */
    answer: bytea('answer'),
    createdAt: now('created_at'),
    expiresAt: instant('expires_at').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.owner, table.key] }),
    index('idempotency_keys_expiry').on(table.expiresAt),
  ],
);

/**
 * Requests counted over all processes, one row a bucket. Unlogged, since a crash may forget a minute; rows of past windows are
 * pruned.
 */
export const rateWindows = pgTable(
  'rate_windows',
  {
    bucket: id('bucket').primaryKey(),
    startedAt: instant('started_at').notNull(),
    taken: raw('taken').notNull(),
  },
  (table) => [index('rate_windows_started').on(table.startedAt)],
);
