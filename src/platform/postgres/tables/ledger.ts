import { sql } from 'drizzle-orm';
import {
  bigint,
  bigserial,
  check,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  text,
  uniqueIndex,
} from 'drizzle-orm/pg-core';
import { id, now, raw } from '../columns.ts';

/**
 * Balance of each agent, one row an agent, written by `apply_batch` alone under the check of `version`. credited = spendable +
 * held + consumed. `rules_version` rises when status, keys or policies change.
 */
export const agentFunds = pgTable(
  'agent_funds',
  {
    agentId: integer('agent_id').primaryKey(),
    accountId: text('account_id').notNull(),
    version: raw('version').notNull().default(sql`0`),
    rulesVersion: raw('rules_version').notNull().default(sql`0`),
    spendableRaw: raw('spendable_raw').notNull().default(sql`0`),
    heldRaw: raw('held_raw').notNull().default(sql`0`),
    creditedRaw: raw('credited_raw').notNull().default(sql`0`),
    consumedRaw: raw('consumed_raw').notNull().default(sql`0`),
    /** USDC that the agent's wallet holds, by the book: deposits, less payments out of the wallet on chain. */
    walletRaw: raw('wallet_raw').notNull().default(sql`0`),
    /** Part of `walletRaw` that is signed away in payments which are not decided yet. */
    promisedRaw: raw('promised_raw').notNull().default(sql`0`),
    /** Counters of the agent's own policies, as the counter codec writes them; null while the agent has none. */
    counters: text('counters'),
  },
  (table) => [
    // Queries over all agents of an account.
    index('agent_funds_account').on(table.accountId),
    check('agent_funds_spendable', sql`${table.spendableRaw} >= 0`),
    check('agent_funds_held', sql`${table.heldRaw} >= 0`),
    check('agent_funds_promised', sql`${table.promisedRaw} >= 0`),
    check(
      'agent_funds_balanced',
      sql`${table.creditedRaw} = ${table.spendableRaw} + ${table.heldRaw} + ${table.consumedRaw}`,
    ),
  ],
);

/**
 * Postings of the ledger, append-only and kept for ever: the balances are derived from them. The id is the idempotency key. The
 * index serves an agent's statement and the self-check.
 */
export const postings = pgTable(
  'postings',
  {
    id: id('id').primaryKey(),
    agentId: integer('agent_id').notNull(),
    code: text('code').notNull(),
    /** Requested amount. A repeat of the posting must match the amount, the code and the account. */
    askedRaw: raw('asked_raw').notNull(),
    debits: text('debits').array().notNull(),
    credits: text('credits').array().notNull(),
    amounts: raw('amounts').array().notNull(),
    at: now('at'),
  },
  (table) => [
    index('postings_agent').on(table.agentId, table.at),
    // Money that came in: a few among very many postings.
    index('postings_funding')
      .on(table.agentId, table.at)
      .where(sql`code in ('funding.deposit', 'funding.credit')`),
  ],
);

/**
 * Open holds only, so that the table stays as small as the work under way. Changed only with the agent's row locked or checked.
 */
export const holds = pgTable(
  'holds',
  {
    id: id('id').primaryKey(),
    agentId: integer('agent_id').notNull(),
    amountRaw: raw('amount_raw').notNull(),
    /** `request` or `session`: decides how a hold whose process has died is resolved. */
    kind: text('kind').notNull(),
    sessionId: text('session_id'),
    nodeId: id('node_id').notNull(),
    leaseEpoch: integer('lease_epoch').notNull(),
    /** Key, task, host and payee, by which policies count the open hold. */
    keyRootId: integer('key_root_id'),
    taskId: text('task_id'),
    host: text('host'),
    payee: text('payee'),
    openedAt: now('opened_at'),
  },
  // No further index: the reaper reads the holds only of an expired lease.
  (table) => [check('holds_amount', sql`${table.amountRaw} >= 0`)],
);

/** Spend history of an agent: one charge for each settled piece of work. Kept for ever. */
export const charges = pgTable(
  'charges',
  {
    id: bigserial('id', { mode: 'bigint' }).notNull(),
    agentId: integer('agent_id').notNull(),
    postingId: text('posting_id').notNull(),
    keyId: integer('key_id'),
    targetUrl: text('target_url').notNull(),
    targetHost: text('target_host').notNull(),
    method: text('method').notNull(),
    status: text('status').notNull(),
    costRaw: raw('cost_raw').notNull(),
    model: text('model'),
    rail: text('rail'),
    usage: jsonb('usage').notNull(),
    taskId: text('task_id'),
    actionId: text('action_id'),
    customerId: text('customer_id'),
    sessionId: text('session_id'),
    /** Address that a payment to a vendor went to, in lower case. */
    payee: text('payee'),
    responseStatusCode: integer('response_status_code'),
    latencyMs: integer('latency_ms'),
    overheadMs: integer('overhead_ms'),
    upstreamMs: integer('upstream_ms'),
    createdAt: now('created_at'),
  },
  (table) => [
    // Charges are read page by page, newest first, and always of one agent.
    primaryKey({ columns: [table.agentId, table.id] }),
    // Charges that a new policy counts from the time before it.
    index('charges_agent_at').on(table.agentId, table.createdAt),
    check('charges_status', sql`${table.status} in ('success', 'failed')`),
  ],
);

/** Events, each written in the commit that made it true. Kept for `WEBHOOK_LIMITS.kept.days`. */
export const events = pgTable(
  'events',
  {
    id: bigserial('id', { mode: 'bigint' }).primaryKey(),
    name: text('name').notNull(),
    /** Account that the event belongs to; null for an event of this server for all accounts. */
    accountId: text('account_id'),
    agentWallet: text('agent_wallet'),
    correlationId: text('correlation_id'),
    payload: jsonb('payload').notNull(),
    /** Only webhook that receives the event; null when every subscribed webhook receives it. */
    webhookId: integer('webhook_id'),
    /** Position in the order of dispatch, which no later event comes before; null until the event is dispatched. */
    position: bigint('position', { mode: 'bigint' }),
    createdAt: now('created_at'),
  },
  (table) => [
    // Each agent has one first payment.
    uniqueIndex('events_first_settlement')
      .on(table.agentWallet)
      .where(sql`name = 'x402.first_settlement'`),
    // Suspensions of an agent: a few among very many events.
    index('events_suspended').on(table.agentWallet).where(sql`name = 'agent.suspended'`),
    index('events_undispatched').on(table.id).where(sql`position is null`),
    index('events_account').on(table.accountId, table.position),
    // Order in which old events are pruned.
    index('events_created').on(table.createdAt),
  ],
);
