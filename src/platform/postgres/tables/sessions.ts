import { sql } from 'drizzle-orm';
import { index, integer, jsonb, pgTable, primaryKey, text } from 'drizzle-orm/pg-core';
import { bytea, id, instant, now, raw } from '../columns.ts';

/**
 * Leases of the processes: a process counts as running until `expiresAt`, in database time. The row of a process that ended is
 * deleted once nothing refers to the row.
 */
export const leases = pgTable('leases', {
  nodeId: id('node_id').primaryKey(),
  /** Number that rises when a process takes the node id again, so that holds of the former process count as orphans. */
  epoch: integer('epoch').notNull(),
  expiresAt: instant('expires_at').notNull(),
  /** Version of the program, and start of the process. Null for a process of a version before these columns. */
  version: text('version'),
  startedAt: instant('started_at'),
  /** Requests and sockets that the process had open at its last renewal. */
  openRequests: integer('open_requests'),
  openSockets: integer('open_sockets'),
});

/**
 * One call, realtime session or transcription stream. A process that takes a session over raises `epoch`, so that every later
 * write of the former process misses its guard. Ended rows are an agent's session history.
 */
export const sessions = pgTable(
  'sessions',
  {
    id: id('id').primaryKey(),
    agentId: integer('agent_id').notNull(),
    keyId: integer('key_id'),
    kind: text('kind').notNull(),
    target: text('target').notNull(),
    model: text('model').notNull(),
    account: text('account').notNull(),
    taskId: text('task_id'),
    actionId: text('action_id'),
    customerId: text('customer_id'),
    nodeId: id('node_id').notNull(),
    leaseEpoch: integer('lease_epoch').notNull(),
    epoch: integer('epoch').notNull().default(1),
    openedAt: now('opened_at'),
    endedAt: instant('ended_at'),
    endReason: text('end_reason'),
    /** Summary of the session; null when its process died, after which only the journal is known. */
    summary: jsonb('summary'),
  },
  (table) => [
    // The reaper scans the open sessions of dead processes; ended sessions are not in this index.
    index('sessions_open_node').on(table.nodeId).where(sql`ended_at is null`),
    index('sessions_agent').on(table.agentId, table.openedAt),
  ],
);

/** Purchases of a session so far, piece by piece. They settle the session's hold when its process dies. */
export const sessionJournal = pgTable(
  'session_journal',
  {
    sessionId: id('session_id').notNull(),
    seq: integer('seq').notNull(),
    epoch: integer('epoch').notNull(),
    costRaw: raw('cost_raw').notNull(),
    /** Quantity of each unit, as a msgpackr record. */
    usage: bytea('usage').notNull(),
    at: now('at'),
  },
  (table) => [primaryKey({ columns: [table.sessionId, table.seq] })],
);
