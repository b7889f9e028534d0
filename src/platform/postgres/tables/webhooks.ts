import { sql } from 'drizzle-orm';
import {
  bigint,
  bigserial,
  boolean,
  check,
  index,
  integer,
  jsonb,
  pgTable,
  smallint,
  text,
  uniqueIndex,
} from 'drizzle-orm/pg-core';
import { bytea, id, instant, now } from '../columns.ts';
import { developers } from './developers.ts';

/** Endpoints of developers that receive events. A deleted endpoint leaves no row; its deliveries stay for their time. */
export const webhooks = pgTable(
  'webhooks',
  {
    id: integer('id').primaryKey().generatedAlwaysAsIdentity(),
    accountId: text('account_id')
      .notNull()
      .references(() => developers.accountId),
    url: text('url').notNull(),
    /** Patterns of event names: exact names, `*`, or `prefix.*`. */
    events: text('events').array().notNull(),
    scope: text('scope').notNull(),
    /** Wallet in lower case, or loan id in digits; null for `global`. */
    scopeValue: text('scope_value'),
    description: text('description'),
    active: boolean('active').notNull().default(true),
    /** Reason why the server switched the endpoint off; null when its owner did, or when it is on. */
    inactiveReason: text('inactive_reason'),
    /** Signing secret under AES-256-GCM, bound to its account and its use. */
    sealedSecret: bytea('sealed_secret').notNull(),
    /** Secret before the last rotation. It also signs until `previous_until`. */
    sealedPrevious: bytea('sealed_previous'),
    previousUntil: instant('previous_until'),
    /** Most deliveries a second; null when no limit was set. */
    maxPerSecond: integer('max_per_second'),
    /** Time from which the deliveries of the next second may be claimed, when `maxPerSecond` is set. */
    nextClaimAt: instant('next_claim_at'),
    /** Time of the first failed attempt since the last success. */
    failingSince: instant('failing_since'),
    createdAt: now('created_at'),
  },
  (table) => [
    index('webhooks_account').on(table.accountId, table.id),
    check('webhooks_scope', sql`${table.scope} in ('global', 'wallet', 'agent', 'loan')`),
  ],
);

/** One event on its way to one endpoint, and its outcome. Kept for `WEBHOOK_LIMITS.kept.days`. */
export const webhookDeliveries = pgTable(
  'webhook_deliveries',
  {
    id: bigserial('id', { mode: 'bigint' }).primaryKey(),
    /** 32 hex digits, the same in every automatic attempt. */
    deliveryId: id('delivery_id').notNull(),
    /** Id of the endpoint, which may have been deleted since. */
    webhookId: integer('webhook_id').notNull(),
    accountId: text('account_id').notNull(),
    /** Event that is delivered; null for a test, whose payload is in `payload`. */
    eventId: bigint('event_id', { mode: 'bigint' }),
    event: text('event').notNull(),
    agentWallet: text('agent_wallet'),
    correlationId: text('correlation_id'),
    payload: jsonb('payload'),
    status: text('status').notNull().default('pending'),
    /** Number of attempts made. */
    attempt: smallint('attempt').notNull().default(0),
    statusCode: smallint('status_code'),
    error: text('error'),
    responseBody: text('response_body'),
    /** Time of the next attempt, or time from which a claimed delivery may be claimed again; null when no attempt follows. */
    dueAt: instant('due_at'),
    createdAt: now('created_at'),
  },
  (table) => [
    uniqueIndex('webhook_deliveries_delivery').on(table.deliveryId),
    // Queue of each endpoint. Rows leave the index when their delivery has ended.
    index('webhook_deliveries_due').on(table.webhookId, table.dueAt).where(sql`due_at is not null`),
    index('webhook_deliveries_endpoint').on(table.webhookId, table.id),
    index('webhook_deliveries_account').on(table.accountId, table.id),
    index('webhook_deliveries_correlation')
      .on(table.accountId, table.correlationId)
      .where(sql`correlation_id is not null`),
    index('webhook_deliveries_stats').on(table.webhookId, table.status),
    // Order in which old deliveries are pruned.
    index('webhook_deliveries_created').on(table.createdAt),
    check(
      'webhook_deliveries_status',
      sql`${table.status} in ('pending', 'retrying', 'success', 'failed')`,
    ),
  ],
);

/** A developer's request to send the failed deliveries of an endpoint since a given time again, oldest first. */
export const webhookRecoveries = pgTable(
  'webhook_recoveries',
  {
    id: integer('id').primaryKey().generatedAlwaysAsIdentity(),
    webhookId: integer('webhook_id').notNull(),
    accountId: text('account_id').notNull(),
    since: instant('since').notNull(),
    until: instant('until').notNull(),
    /** Last delivery that the recovery has examined. */
    cursorId: bigint('cursor_id', { mode: 'bigint' }).notNull().default(sql`0`),
    requeued: integer('requeued').notNull().default(0),
    finishedAt: instant('finished_at'),
    createdAt: now('created_at'),
  },
  (table) => [
    // One recovery at a time for each endpoint, and the look-up of the running recovery.
    uniqueIndex('webhook_recoveries_running').on(table.webhookId).where(sql`finished_at is null`),
  ],
);

/** Single row with the last position of an event. The process that holds its lock dispatches events. */
export const eventPositions = pgTable('event_positions', {
  id: boolean('id').primaryKey().default(true),
  last: bigint('last', { mode: 'bigint' }).notNull(),
});
