import { sql } from 'drizzle-orm';
import { check, index, integer, jsonb, pgTable, primaryKey, text } from 'drizzle-orm/pg-core';
import { bytea, id, instant, now, raw } from '../columns.ts';

/** Latest probe of each vendor of the marketplace, by any process, and the vendor's sales. */
export const marketplaceVendors = pgTable(
  'marketplace_vendors',
  {
    vendor: id('vendor').primaryKey(),
    status: text('status').notNull().default('ok'),
    /** Failed probes in a row. */
    failures: integer('failures').notNull().default(0),
    /**
     * Time at which a process began the latest probe, which keeps other processes from probing; null before the first probe.
     */
    checkedAt: instant('checked_at'),
    /** Duration of the latest probe; null while the first probe is under way. */
    latencyMs: integer('latency_ms'),
    excerpt: text('excerpt'),
    /** Sales of this vendor, reported by all processes: time and duration of the last sale, and failures in a row. */
    soldAt: instant('sold_at'),
    saleLatencyMs: integer('sale_latency_ms'),
    saleFailures: integer('sale_failures').notNull().default(0),
  },
  (table) => [check('marketplace_vendors_status', sql`${table.status} in ('ok', 'down')`)],
);

/** Jobs that a vendor works on for minutes. An ended job keeps its row for as long as events that name the job are kept. */
export const marketplaceJobs = pgTable(
  'marketplace_jobs',
  {
    /** Id of the job and of its hold. */
    id: id('id').primaryKey(),
    agentId: integer('agent_id').notNull(),
    accountId: text('account_id').notNull(),
    vendor: id('vendor').notNull(),
    /**
     * Step of the job: `submitting` until the caller may hear of the job, `ending` from the moment that the outcome is decided.
     */
    step: text('step').notNull().default('submitting'),
    /** Request of the job: its input, its caller, and the address that the spend history shows. */
    asked: jsonb('asked').notNull(),
    /** Most pages that are paid for, and the amount that is held for these pages. */
    pagesHeld: integer('pages_held').notNull(),
    heldRaw: raw('held_raw').notNull(),
    /** Vendor's id of the job; null until the vendor has stated it. */
    vendorJobId: text('vendor_job_id'),
    /** Number that each process raises when it takes the job over, so that every write of an earlier process misses. */
    epoch: integer('epoch').notNull().default(0),
    /** Queries of the job's state in a row that brought no news. */
    looks: integer('looks').notNull().default(0),
    /** Time of the next work on the job: a process takes the job over, then deletes its result, then deletes the job. */
    dueAt: instant('due_at'),
    /** Time at which the job fails when it has not ended. */
    deadlineAt: instant('deadline_at').notNull(),
    /** Outcome of the job and its cost, once they are decided. */
    verdict: jsonb('verdict'),
    costRaw: raw('cost_raw'),
    /** Delivery of the vendor, a ZIP archive; null: nothing, or it is deleted. */
    result: bytea('result'),
    resultUntil: instant('result_until'),
    createdAt: now('created_at'),
    /** Time of the request that started the job at the vendor. */
    startedAt: instant('started_at'),
    endedAt: instant('ended_at'),
  },
  (table) => [
    index('marketplace_jobs_due').on(table.dueAt).where(sql`due_at is not null`),
    // Unfinished jobs are few: they are counted by agent and by account.
    index('marketplace_jobs_living')
      .on(table.accountId, table.agentId)
      .where(sql`ended_at is null`),
    check(
      'marketplace_jobs_step',
      sql`${table.step} in ('submitting', 'queued', 'starting', 'running', 'ending', 'completed', 'failed')`,
    ),
  ],
);

/** Time of the last report to an agent about a vendor's departure from its description, so that it is reported once an hour. */
export const marketplaceTripwires = pgTable(
  'marketplace_tripwires',
  {
    agentId: integer('agent_id').notNull(),
    vendor: id('vendor').notNull(),
    tripwire: id('tripwire').notNull(),
    triggeredAt: now('triggered_at'),
  },
  (table) => [primaryKey({ columns: [table.agentId, table.vendor, table.tripwire] })],
);
