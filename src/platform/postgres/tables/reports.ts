import { sql } from 'drizzle-orm';
import {
  bigserial,
  date,
  index,
  integer,
  pgTable,
  primaryKey,
  smallint,
  text,
} from 'drizzle-orm/pg-core';
import { id, now, raw } from '../columns.ts';

/**
 * Last charge of each agent that is part of `report_totals` and `report_latency`. An agent's charges are numbered in the order of
 * their commits, so the totals and the charges behind the cursor are all charges.
 */
export const reportCursors = pgTable('report_cursors', {
  agentId: integer('agent_id').primaryKey(),
  chargeId: raw('charge_id').notNull(),
  /** Number of the changes of reconciled rows that were rolled up. */
  changes: raw('changes').notNull().default(sql`0`),
});

/**
 * Totals by UTC day, for each value of one dimension: source (one empty key), host, customer or task. Written together with the
 * agent's cursor, and with its row locked. Kept for ever.
 */
export const reportTotals = pgTable(
  'report_totals',
  {
    agentId: integer('agent_id').notNull(),
    dimension: id('dimension').notNull(),
    day: date('day').notNull(),
    /** Source of spend; of customers and tasks only its class: `reconciled`, or empty. */
    source: id('source').notNull(),
    /** Value of the dimension; empty for calls without it. */
    key: id('key').notNull(),
    calls: integer('calls').notNull(),
    failed: integer('failed').notNull(),
    costRaw: raw('cost_raw').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.agentId, table.dimension, table.day, table.source, table.key] }),
    // The search for a task or a customer.
    index('report_totals_key').on(table.agentId, table.dimension, table.key),
  ],
);

/** Histogram of the latency of requests by UTC day, in buckets that grow by a constant factor. Kept for ever. */
export const reportLatency = pgTable(
  'report_latency',
  {
    agentId: integer('agent_id').notNull(),
    day: date('day').notNull(),
    /** Always `request`. */
    source: id('source').notNull(),
    bucket: smallint('bucket').notNull(),
    calls: integer('calls').notNull(),
  },
  (table) => [primaryKey({ columns: [table.agentId, table.day, table.source, table.bucket] })],
);

/**
 * Changes of reconciled rows that are not part of `report_totals` yet. The commit that adds a reconciled row, or corrects its
 * cost, adds the difference here; the roll-up deletes it in the commit that adds it to the totals.
 */
export const reconciledChanges = pgTable(
  'reconciled_changes',
  {
    id: bigserial('id', { mode: 'bigint' }).notNull(),
    agentId: integer('agent_id').notNull(),
    /** UTC day of the purchase. */
    day: date('day').notNull(),
    source: id('source').notNull(),
    host: id('host').notNull(),
    customer: id('customer').notNull(),
    task: id('task').notNull(),
    /** 1 for each new row, 0 for a corrected cost. */
    calls: integer('calls').notNull(),
    costRaw: raw('cost_raw').notNull(),
  },
  (table) => [primaryKey({ columns: [table.agentId, table.id] })],
);

/** Refused and failed calls of each agent by UTC day and reason. Kept for ever. */
export const refusalTotals = pgTable(
  'refusal_totals',
  {
    agentId: integer('agent_id').notNull(),
    day: date('day').notNull(),
    reason: id('reason').notNull(),
    calls: integer('calls').notNull(),
  },
  (table) => [primaryKey({ columns: [table.agentId, table.day, table.reason] })],
);

/** Number of an agent's refusals of a UTC day, which decides the refusals that are also rows. */
export const refusalDays = pgTable(
  'refusal_days',
  {
    agentId: integer('agent_id').notNull(),
    day: date('day').notNull(),
    calls: integer('calls').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.agentId, table.day] }),
    index('refusal_days_day').on(table.day),
  ],
);

/** The first refusals of each agent and UTC day. Kept for `REPORT_LIMITS.refusals.keptDays`. */
export const refusals = pgTable(
  'refusals',
  {
    id: bigserial('id', { mode: 'bigint' }).notNull(),
    agentId: integer('agent_id').notNull(),
    at: now('at'),
    requestId: text('request_id').notNull(),
    reason: id('reason').notNull(),
    policyId: integer('policy_id'),
    host: text('host'),
    requiredRaw: raw('required_raw'),
    availableRaw: raw('available_raw'),
  },
  (table) => [
    primaryKey({ columns: [table.agentId, table.id] }),
    // Order in which old refusals are pruned.
    index('refusals_at').on(table.at),
  ],
);
