import { pgTable, text } from 'drizzle-orm/pg-core';
import { now } from '../columns.ts';

/** One row a wallet that ever signed in. Never deleted; looked up by either key. */
export const developers = pgTable('developers', {
  accountId: text('account_id').primaryKey(),
  /** Lower case. */
  wallet: text('wallet').notNull().unique(),
  displayName: text('display_name'),
  email: text('email'),
  createdAt: now('created_at'),
});
