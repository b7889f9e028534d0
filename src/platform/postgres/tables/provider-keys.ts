import { boolean, integer, pgTable, text, unique } from 'drizzle-orm/pg-core';
import { bytea, instant, now } from '../columns.ts';
import { developers } from './developers.ts';

/** Keys of an account at providers of models, one for each provider. A deleted key leaves no row. */
export const providerKeys = pgTable(
  'provider_keys',
  {
    id: integer('id').primaryKey().generatedAlwaysAsIdentity(),
    accountId: text('account_id')
      .notNull()
      .references(() => developers.accountId),
    /** Provider's name in the catalogue. A key may outlive its provider there. */
    provider: text('provider').notNull(),
    /** The key under AES-256-GCM, bound to account and provider: 12 bytes nonce, the sealed key, 16 bytes tag. */
    sealedKey: bytea('sealed_key').notNull(),
    /** Recognisable start of the key, with three dots. */
    keyPrefix: text('key_prefix').notNull(),
    label: text('label'),
    enabled: boolean('enabled').notNull().default(true),
    /** Wallet that stored the account's first key for this provider. */
    createdBy: text('created_by').notNull(),
    lastUsedAt: instant('last_used_at'),
    createdAt: now('created_at'),
    updatedAt: now('updated_at'),
  },
  (table) => [unique('provider_keys_one_each').on(table.accountId, table.provider)],
);
