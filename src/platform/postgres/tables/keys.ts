import { sql } from 'drizzle-orm';
import { check, index, integer, pgTable, text } from 'drizzle-orm/pg-core';
import { instant, now } from '../columns.ts';
import { agents } from './agents.ts';
import { developers } from './developers.ts';

/** Columns that both kinds of key have. Only a keyed hash of the secret is stored, never the secret. */
const keyColumns = () => ({
  id: integer('id').primaryKey().generatedAlwaysAsIdentity(),
  /** HMAC-SHA256 of the secret, in hex. */
  digest: text('digest').notNull().unique(),
  prefix: text('prefix').notNull(),
  label: text('label'),
  permissions: text('permissions').notNull(),
  rotatedFrom: integer('rotated_from'),
  /** Wallet of the member who issued the key, in lower case. Null: issued before members existed, by the account's wallet. */
  createdBy: text('created_by'),
  createdAt: now('created_at'),
  lastUsedAt: instant('last_used_at'),
  revokedAt: instant('revoked_at'),
});

/** Management keys of an account. Revoked rows stay: events and `rotated_from` name them. */
export const developerKeys = pgTable(
  'developer_keys',
  {
    ...keyColumns(),
    accountId: text('account_id')
      .notNull()
      .references(() => developers.accountId),
    expiresAt: instant('expires_at'),
  },
  (table) => [
    index('developer_keys_active').on(table.accountId).where(sql`revoked_at is null`),
    index('developer_keys_account').on(table.accountId, table.id),
    check('developer_keys_permissions', sql`${table.permissions} in ('read', 'read_write')`),
  ],
);

/** Runtime keys of an agent. Revoked rows stay: charges name the key that made them. */
export const agentKeys = pgTable(
  'agent_keys',
  {
    ...keyColumns(),
    agentId: integer('agent_id')
      .notNull()
      .references(() => agents.id),
    /**
     * First key of the line of rotations that the key belongs to; the keys of a line share one budget. Null for the first key
     * itself.
     */
    rootId: integer('root_id'),
    /** `auto` when prompts are marked for the caches of upstreams that need marks (`cache_control`); else `off`. */
    promptCaching: text('prompt_caching').notNull().default('off'),
  },
  (table) => [
    index('agent_keys_active').on(table.agentId).where(sql`revoked_at is null`),
    index('agent_keys_agent').on(table.agentId, table.id),
    check('agent_keys_permissions', sql`${table.permissions} in ('read', 'read_write')`),
    check('agent_keys_prompt_caching', sql`${table.promptCaching} in ('off', 'auto')`),
  ],
);
