import { boolean, integer, pgTable, text, unique } from 'drizzle-orm/pg-core';
import { bytea, instant, now } from '../columns.ts';
import { developers } from './developers.ts';

/** Keys of an account at the providers of models: one each. What is deleted leaves no row. */
export const providerKeys = pgTable(
  'provider_keys',
  {
    id: integer('id').primaryKey().generatedAlwaysAsIdentity(),
    accountId: text('account_id')
      .notNull()
      .references(() => developers.accountId),
    /** As the catalogue names it; a key may outlive its provider there. */
    provider: text('provider').notNull(),
    /** The key under AES-256-GCM, bound to account and provider: 12 bytes nonce, the sealed key, 16 bytes tag. */
    sealedKey: bytea('sealed_key').notNull(),
    /** The recognisable start and three dots. */
    keyPrefix: text('key_prefix').notNull(),
    label: text('label'),
    enabled: boolean('enabled').notNull().default(true),
    /** The wallet that stored the first key here. */
    createdBy: text('created_by').notNull(),
    lastUsedAt: instant('last_used_at'),
    createdAt: now('created_at'),
    updatedAt: now('updated_at'),
  },
  (table) => [unique('provider_keys_one_each').on(table.accountId, table.provider)],
);
