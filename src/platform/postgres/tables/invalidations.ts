import { sql } from 'drizzle-orm';
import { bigserial, index, integer, pgTable, text } from 'drizzle-orm/pg-core';
import { instant } from '../columns.ts';

/**
 * Entries that every process must drop from its caches: revoked keys, suspended and closed agents. Each process polls the table
 * each second; any process deletes rows older than an hour.
 */
export const invalidations = pgTable(
  'invalidations',
  {
    id: bigserial('id', { mode: 'bigint' }).primaryKey(),
    /** agent_key_revoked, developer_key_revoked, agent_stopped or agent_changed. */
    kind: text('kind').notNull(),
    agentId: integer('agent_id'),
    keyId: integer('key_id'),
    /** Time of the insert by the wall clock, not the beginning of its transaction. */
    at: instant('at').notNull().default(sql`clock_timestamp()`),
  },
  (table) => [index('invalidations_at').on(table.at)],
);
