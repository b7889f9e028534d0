import { integer, pgTable, primaryKey, text } from 'drizzle-orm/pg-core';
import { instant, now } from '../columns.ts';

/** One row for each wallet that ever signed in. Never deleted; looked up by account id or by wallet. */
export const developers = pgTable('developers', {
  accountId: text('account_id').primaryKey(),
  /** Address of the wallet in lower case. */
  wallet: text('wallet').notNull().unique(),
  displayName: text('display_name'),
  email: text('email'),
  createdAt: now('created_at'),
  /** Current generation of session tokens. Tokens of an older generation are refused. */
  sessionGeneration: integer('session_generation').notNull().default(0),
  /** First time that a tool for AI clients acted for the account. */
  aiToolConnectedAt: instant('ai_tool_connected_at'),
});

/** Sessions that were ended before their tokens expired. A row is deleted once the session's newest token has expired. */
export const endedSessions = pgTable(
  'ended_sessions',
  {
    accountId: text('account_id')
      .notNull()
      .references(() => developers.accountId),
    id: text('id').notNull(),
    expiresAt: instant('expires_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.accountId, table.id] })],
);
