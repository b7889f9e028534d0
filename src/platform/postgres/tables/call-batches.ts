import { sql } from 'drizzle-orm';
import {
  check,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  text,
  uniqueIndex,
} from 'drizzle-orm/pg-core';
import { id, instant, now, raw } from '../columns.ts';

/** Calls that were ordered together. A worker of any process places them, a few at a time. */
export const callBatches = pgTable(
  'call_batches',
  {
    id: id('id').primaryKey(),
    agentId: integer('agent_id').notNull(),
    accountId: text('account_id').notNull(),
    /** The work under an `Idempotency-Key` that ordered it. */
    workId: id('work_id'),
    /** Payer of the batch, and the options that all calls of the batch share. */
    request: jsonb('request').notNull(),
    /** `running`, `paused`, `canceled` or `completed`: a batch that is canceled is over once its last call is. */
    status: text('status').notNull(),
    /**
     * Reason of the pause: the error that the next call would have had. Null when the batch was paused by request, or is not
     * paused.
     */
    pausedFor: text('paused_for'),
    /** Time at which a worker examines the batch; null when the batch is over. */
    dueAt: instant('due_at'),
    createdAt: now('created_at'),
    endedAt: instant('ended_at'),
  },
  (table) => [
    uniqueIndex('call_batches_work').on(table.workId).where(sql`work_id is not null`),
    index('call_batches_due').on(table.dueAt).where(sql`due_at is not null`),
    index('call_batches_agent').on(table.agentId, table.createdAt),
    index('call_batches_account').on(table.accountId, table.createdAt),
    check(
      'call_batches_status',
      sql`${table.status} in ('running', 'paused', 'canceled', 'completed')`,
    ),
  ],
);

/** One recipient of a batch, who is called until an outcome is final. */
export const callBatchRows = pgTable(
  'call_batch_rows',
  {
    batchId: id('batch_id').notNull(),
    seq: integer('seq').notNull(),
    /** The recipient's number, and the options of this call alone. */
    request: jsonb('request').notNull(),
    /** `waiting`, `calling` or `done`. */
    state: text('state').notNull(),
    /** Calls that were begun for the recipient. */
    attempts: integer('attempts').notNull().default(0),
    /** The latest call; null: none was written. */
    callId: id('call_id'),
    /** Outcome of the latest call, or that no call was placed. */
    outcome: text('outcome'),
    /** The end reason of that call, or the error by which none was placed. */
    reason: text('reason'),
    /** The cost of its calls that are over: their legs and their model. */
    costRaw: raw('cost_raw').notNull().default(sql`0`),
    /** While it waits: not before then it is called. While it is called: by then its call is written, or was lost. */
    dueAt: instant('due_at'),
  },
  (table) => [
    primaryKey({ columns: [table.batchId, table.seq] }),
    index('call_batch_rows_open').on(table.batchId, table.seq).where(sql`state <> 'done'`),
    check('call_batch_rows_state', sql`${table.state} in ('waiting', 'calling', 'done')`),
  ],
);
