import { sql } from 'drizzle-orm';
import {
  bigint,
  boolean,
  check,
  index,
  integer,
  pgTable,
  text,
  uniqueIndex,
} from 'drizzle-orm/pg-core';
import { instant, now, raw } from '../columns.ts';
import { developers } from './developers.ts';

/** Agents, kept for ever: closed agents own the history of their money. */
export const agents = pgTable(
  'agents',
  {
    id: integer('id').primaryKey().generatedAlwaysAsIdentity(),
    accountId: text('account_id')
      .notNull()
      .references(() => developers.accountId),
    name: text('name').notNull(),
    /** pending_delegation, active, suspended or closed. */
    status: text('status').notNull(),
    /** `developer_manual`, `admin_manual` or `policy:<id>`; null unless suspended. */
    suspendedReason: text('suspended_reason'),
    /** managed, or legacy for agents outside the managed flow. */
    mode: text('mode').notNull().default('managed'),
    /** wallet (prepaid) or credit_line. */
    fundingMode: text('funding_mode').notNull(),
    /** Wallet's address in lower case; null until the wallet is provisioned. */
    walletAddress: text('wallet_address').unique(),
    borrowLimitRaw: raw('borrow_limit_raw'),
    maxRateBps: integer('max_rate_bps').notNull(),
    expirySeconds: integer('expiry_seconds').notNull(),
    /** Unix seconds at which the delegation ends; null until the delegation is made. */
    operatorExpiry: bigint('operator_expiry', { mode: 'number' }),
    delegationTxHash: text('delegation_tx_hash'),
    /** Failed attempts to provision the agent, and the time of the next attempt. */
    provisionAttempts: integer('provision_attempts').notNull().default(0),
    provisionNextAt: instant('provision_next_at'),
    createdAt: now('created_at'),
    updatedAt: now('updated_at'),
    closedAt: instant('closed_at'),
    /** Destinations that must stand in an api or vendor policy: off, host, vendor or both. */
    allowlistMode: text('allowlist_mode').notNull().default('off'),
    /** True when the agent's own key may tighten the agent's controls but loosen none. */
    selfServiceLocked: boolean('self_service_locked').notNull().default(false),
  },
  (table) => [
    // A closed agent gives its name and its slot back.
    uniqueIndex('agents_open_name').on(table.accountId, table.name).where(sql`status <> 'closed'`),
    index('agents_account').on(table.accountId),
    index('agents_awaiting_provision')
      .on(table.provisionNextAt)
      .where(sql`status = 'pending_delegation'`),
    check(
      'agents_status',
      sql`${table.status} in ('pending_delegation', 'active', 'suspended', 'closed')`,
    ),
    check(
      'agents_allowlist_mode',
      sql`${table.allowlistMode} in ('off', 'host', 'vendor', 'both')`,
    ),
    check('agents_funding_mode', sql`${table.fundingMode} in ('wallet', 'credit_line')`),
  ],
);

/** Permissions that the local delegation recorded in place of the matcher contract; one row an agent. */
export const operatorPermissions = pgTable('operator_permissions', {
  agentId: integer('agent_id')
    .primaryKey()
    .references(() => agents.id),
  operator: text('operator').notNull(),
  borrowLimitRaw: raw('borrow_limit_raw').notNull(),
  maxRateBps: integer('max_rate_bps').notNull(),
  expiry: bigint('expiry', { mode: 'number' }).notNull(),
  /** Only address that may receive the borrowed funds. */
  onBehalfOf: text('on_behalf_of').notNull(),
  txHash: text('tx_hash').notNull(),
  approved: boolean('approved').notNull(),
});
