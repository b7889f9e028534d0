import { sql } from 'drizzle-orm';
import { check, index, integer, pgTable, primaryKey, text, uniqueIndex } from 'drizzle-orm/pg-core';
import { instant, now } from '../columns.ts';
import { developers } from './developers.ts';

/** Members of accounts besides the wallet that the account belongs to, which has no row and is always an owner. */
export const members = pgTable(
  'members',
  {
    accountId: text('account_id')
      .notNull()
      .references(() => developers.accountId),
    /** Address in lower case. */
    wallet: text('wallet').notNull(),
    /** owner, admin, member or viewer. */
    role: text('role').notNull(),
    /** Address to which the invite was addressed. */
    email: text('email').notNull(),
    invitedBy: text('invited_by').notNull(),
    createdAt: now('created_at'),
  },
  (table) => [
    primaryKey({ columns: [table.accountId, table.wallet] }),
    check('members_role', sql`${table.role} in ('owner', 'admin', 'member', 'viewer')`),
  ],
);

/** Invites to accounts. Rows of ended invites stay for 30 days, so that a used token gets another answer than an unknown one. */
export const invites = pgTable(
  'invites',
  {
    id: integer('id').primaryKey().generatedAlwaysAsIdentity(),
    accountId: text('account_id')
      .notNull()
      .references(() => developers.accountId),
    /** Address in lower case. */
    email: text('email').notNull(),
    role: text('role').notNull(),
    /** HMAC-SHA256 of the token, in hex. The token itself is not stored. */
    digest: text('digest').notNull().unique(),
    invitedBy: text('invited_by').notNull(),
    createdAt: now('created_at'),
    expiresAt: instant('expires_at').notNull(),
    /** Number of tokens that were made for the invite; each replaces the one before. */
    sends: integer('sends').notNull().default(1),
    sentAt: instant('sent_at').notNull(),
    endedAt: instant('ended_at'),
    /** accepted, deleted or expired. Null while the invite is open. */
    endedAs: text('ended_as'),
  },
  (table) => [
    uniqueIndex('invites_open').on(table.accountId, table.email).where(sql`ended_at is null`),
    index('invites_account').on(table.accountId, table.sentAt),
    index('invites_email').on(table.email, table.sentAt),
    check('invites_role', sql`${table.role} in ('admin', 'member', 'viewer')`),
    check('invites_ended', sql`${table.endedAs} in ('accepted', 'deleted', 'expired')`),
  ],
);
