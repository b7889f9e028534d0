import { sql } from 'drizzle-orm';
import {
  bigserial,
  check,
  date,
  index,
  integer,
  pgTable,
  primaryKey,
  smallint,
  text,
  uniqueIndex,
} from 'drizzle-orm/pg-core';
import { instant, now, raw } from '../columns.ts';

/** Outcome of an action, as the agent or its developer reported it last. */
export const actionOutcomes = pgTable(
  'action_outcomes',
  {
    agentId: integer('agent_id').notNull(),
    actionId: text('action_id').notNull(),
    status: text('status').notNull(),
    scoreBps: integer('score_bps'),
    note: text('note'),
    reportCount: integer('report_count').notNull().default(1),
    reportedAt: now('reported_at'),
  },
  (table) => [
    primaryKey({ columns: [table.agentId, table.actionId] }),
    // Quality is the mean over a window of time.
    index('action_outcomes_recent').on(table.agentId, table.reportedAt),
    check(
      'action_outcomes_status',
      sql`${table.status} in ('success', 'failure', 'partial', 'unknown')`,
    ),
  ],
);

/** Totals of charges by action, written with each charge, so that the view of the actions never counts rows. */
export const actionTotals = pgTable(
  'action_totals',
  {
    agentId: integer('agent_id').notNull(),
    actionId: text('action_id').notNull(),
    calls: integer('calls').notNull(),
    /** Cost of the settled charges alone. */
    spentRaw: raw('spent_raw').notNull(),
    firstSeen: instant('first_seen').notNull(),
    lastSeen: instant('last_seen').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.agentId, table.actionId] }),
    index('action_totals_recent').on(table.agentId, table.lastSeen),
  ],
);

/**
 * Free calls through the proxy, counted by action in the transaction that writes their lines. Free calls move no money, so
 * their counts stay out of the rows that the ledger locks.
 */
export const freeActionTotals = pgTable(
  'free_action_totals',
  {
    agentId: integer('agent_id').notNull(),
    actionId: text('action_id').notNull(),
    calls: integer('calls').notNull(),
    firstSeen: instant('first_seen').notNull(),
    lastSeen: instant('last_seen').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.agentId, table.actionId] }),
    index('free_action_totals_recent').on(table.agentId, table.lastSeen),
  ],
);

/** Totals of charges by UTC day, model and rail, written with each charge. An empty model is a paid request. */
export const spendTotals = pgTable(
  'spend_totals',
  {
    agentId: integer('agent_id').notNull(),
    day: date('day').notNull(),
    model: text('model').notNull(),
    rail: text('rail').notNull(),
    calls: integer('calls').notNull(),
    failed: integer('failed').notNull(),
    costRaw: raw('cost_raw').notNull(),
  },
  (table) => [primaryKey({ columns: [table.agentId, table.day, table.model, table.rail] })],
);

/**
 * Purchases elsewhere, as an agent (`source` guard) or a voice platform has reported them: reports show them, and they move no
 * money. Rows are never changed: a later cost of the same call is a further row with the difference. Kept for ever.
 */
export const reconciledEvents = pgTable(
  'reconciled_events',
  {
    id: bigserial('id', { mode: 'bigint' }).primaryKey(),
    agentId: integer('agent_id').notNull(),
    /** Digest of the line and of its number among equal lines: identifies a line that is uploaded twice. */
    digest: text('digest').notNull(),
    at: instant('at').notNull(),
    kind: text('kind').notNull(),
    modelOrTool: text('model_or_tool').notNull(),
    costRaw: raw('cost_raw').notNull(),
    promptTokens: integer('prompt_tokens'),
    completionTokens: integer('completion_tokens'),
    label: text('label'),
    /** `guard` for uploaded lines, otherwise the voice platform. */
    source: text('source').notNull().default('guard'),
    /** 1 for a purchase, 0 for a row that corrects the cost of an earlier one, which has the same `at`. */
    calls: smallint('calls').notNull().default(1),
    taskId: text('task_id'),
    customerId: text('customer_id'),
    createdAt: now('created_at'),
  },
  (table) => [
    uniqueIndex('reconciled_events_digest').on(table.agentId, table.digest),
    index('reconciled_events_at').on(table.agentId, table.at),
    // Calls of voice platforms count under policies, also under those that are made later.
    index('reconciled_events_counted').on(table.agentId, table.at).where(sql`source <> 'guard'`),
  ],
);
