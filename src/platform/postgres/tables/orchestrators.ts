import { sql } from 'drizzle-orm';
import {
  bigint,
  boolean,
  check,
  index,
  integer,
  pgTable,
  primaryKey,
  smallint,
  text,
  uniqueIndex,
} from 'drizzle-orm/pg-core';
import { bytea, id, instant, now, raw } from '../columns.ts';
import { agents } from './agents.ts';
import { developers } from './developers.ts';

/** Connection of an agent to a voice platform, which reports the calls that it made for the agent. */
export const orchestratorConnections = pgTable(
  'orchestrator_connections',
  {
    id: integer('id').primaryKey().generatedAlwaysAsIdentity(),
    accountId: text('account_id')
      .notNull()
      .references(() => developers.accountId),
    agentId: integer('agent_id')
      .notNull()
      .references(() => agents.id),
    provider: text('provider').notNull(),
    label: text('label'),
    active: boolean('active').notNull().default(true),
    /** SHA-256 of the token in the URLs of the connection. */
    tokenHash: bytea('token_hash').notNull(),
    /** Random bytes from which this server, with its own secret, derives the token again. */
    tokenSalt: bytea('token_salt').notNull(),
    /** Secret of the platform under AES-256-GCM, bound to its account, agent and platform. */
    sealedSecret: bytea('sealed_secret').notNull(),
    lastEventAt: instant('last_event_at'),
    createdAt: now('created_at'),
    updatedAt: now('updated_at'),
  },
  (table) => [
    uniqueIndex('orchestrator_connections_token').on(table.tokenHash),
    uniqueIndex('orchestrator_connections_agent').on(table.agentId, table.provider),
    index('orchestrator_connections_account').on(table.accountId, table.id),
    check(
      'orchestrator_connections_provider',
      sql`${table.provider} in ('vapi', 'retell', 'bland', 'pipecat', 'livekit')`,
    ),
  ],
);

/** Call of an agent at a voice platform, one row a call, with its cost by the latest report. Kept for ever. */
export const platformCalls = pgTable(
  'platform_calls',
  {
    agentId: integer('agent_id').notNull(),
    provider: text('provider').notNull(),
    /** Id of the call at the platform. */
    callId: id('call_id').notNull(),
    /** Number of reports that were taken. Each is a posting of the ledger with this number in its id. */
    revision: integer('revision').notNull(),
    costRaw: raw('cost_raw').notNull(),
    /** Rank of the latest report: a report of a lower rank never replaces it. */
    rank: smallint('rank').notNull(),
    /** Unix milliseconds of the latest report by the platform's clock; null when the platform tells no time. */
    saidAtMs: bigint('said_at_ms', { mode: 'number' }),
    /** Marks of the latest reports, by which a repeat is known. */
    seen: text('seen').array().notNull(),
    /** Names of the events that were sent for the call. */
    told: text('told').array().notNull(),
    host: text('host').notNull(),
    taskId: text('task_id'),
    customerId: text('customer_id'),
    durationSeconds: integer('duration_seconds'),
    /** Time at which the call began to count under policies. */
    countedAt: instant('counted_at').notNull(),
    updatedAt: now('updated_at'),
  },
  (table) => [
    primaryKey({ columns: [table.agentId, table.provider, table.callId] }),
    // Lists of what an agent spent, by time.
    index('platform_calls_counted').on(table.agentId, table.countedAt),
    check('platform_calls_cost', sql`${table.costRaw} >= 0`),
  ],
);
