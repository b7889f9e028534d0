import { sql } from 'drizzle-orm';
import { bigint, boolean, check, index, integer, pgTable, text } from 'drizzle-orm/pg-core';
import { instant, now, raw } from '../columns.ts';
import { agents } from './agents.ts';
import { developers } from './developers.ts';

/**
 * Caps on spending, of one agent or of all agents of an account. Revoked rows stay, since refusals and suspensions name them;
 * the indexes hold policies in force only.
 */
export const policies = pgTable(
  'policies',
  {
    id: integer('id').primaryKey().generatedAlwaysAsIdentity(),
    accountId: text('account_id')
      .notNull()
      .references(() => developers.accountId),
    /** Agent that the policy limits; null for a policy of the whole team. */
    agentId: integer('agent_id').references(() => agents.id),
    /** task, api, vendor, session or key. */
    kind: text('kind').notNull(),
    /** Task id, host, payee, or id of the first key of a line of rotations, in lower case; null for a session. */
    matchKey: text('match_key'),
    /** host_exact, host_suffix or recipient; null for a kind with one way to match. */
    matchKind: text('match_kind'),
    limitRaw: raw('limit_raw').notNull(),
    limitFloorRaw: raw('limit_floor_raw'),
    limitCeilingRaw: raw('limit_ceiling_raw'),
    /** rolling, calendar, once or session. */
    windowKind: text('window_kind').notNull(),
    windowSeconds: integer('window_seconds'),
    /** day, week or month. */
    calendarUnit: text('calendar_unit'),
    /** Time from which settled amounts count. */
    startsAt: instant('starts_at').notNull(),
    expiresAt: bigint('expires_at', { mode: 'number' }),
    effectiveFrom: bigint('effective_from', { mode: 'number' }),
    effectiveUntil: bigint('effective_until', { mode: 'number' }),
    /** block or suspend_agent. */
    action: text('action').notNull().default('block'),
    label: text('label'),
    qualityThrottleFloorBps: integer('quality_throttle_floor_bps'),
    qualityWindowSeconds: integer('quality_window_seconds'),
    /** True when the unspent part of the limit is set aside for the policy's task. */
    reserves: boolean('reserves').notNull().default(false),
    createdAt: now('created_at'),
    updatedAt: now('updated_at'),
    revokedAt: instant('revoked_at'),
  },
  (table) => [
    index('policies_account').on(table.accountId).where(sql`revoked_at is null`),
    index('policies_agent').on(table.agentId).where(sql`revoked_at is null`),
    // For readers of policies that have ended, too.
    index('policies_owner').on(table.accountId, table.agentId, table.id),
    check('policies_limit', sql`${table.limitRaw} > 0`),
    check('policies_kind', sql`${table.kind} in ('task', 'api', 'vendor', 'session', 'key')`),
    check(
      'policies_window_kind',
      sql`${table.windowKind} in ('rolling', 'calendar', 'once', 'session')`,
    ),
    check('policies_action', sql`${table.action} in ('block', 'suspend_agent')`),
  ],
);

/**
 * Counters of one policy of a team: a ring of buckets, the newest numbered `head`. Written by `apply_batch` under the row's
 * lock, and deleted with the policy.
 */
export const teamCounters = pgTable(
  'team_counters',
  {
    policyId: integer('policy_id').primaryKey(),
    heldRaw: raw('held_raw').notNull(),
    head: raw('head').notNull(),
    buckets: raw('buckets').array().notNull(),
  },
  (table) => [check('team_counters_held', sql`${table.heldRaw} >= 0`)],
);

/** Shares of an agent's funding. An event is written when the balance crosses such a share. */
export const creditThresholds = pgTable(
  'credit_thresholds',
  {
    id: integer('id').primaryKey().generatedAlwaysAsIdentity(),
    agentId: integer('agent_id')
      .notNull()
      .references(() => agents.id),
    thresholdBps: integer('threshold_bps').notNull(),
    /** below or above. */
    lastState: text('last_state').notNull(),
    lastFiredAt: instant('last_fired_at'),
    /** Only webhook that receives the event; null when every subscribed webhook receives it. */
    webhookId: integer('webhook_id'),
    createdAt: now('created_at'),
  },
  (table) => [index('credit_thresholds_agent').on(table.agentId)],
);
