import { sql } from 'drizzle-orm';
import {
  boolean,
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

/** Every call, inbound and outbound. The history of an agent, kept for ever. */
export const calls = pgTable(
  'calls',
  {
    /** `CA` and 32 hex digits, ours: it is known before the carrier knows of the call. */
    id: id('id').primaryKey(),
    agentId: integer('agent_id').notNull(),
    accountId: text('account_id').notNull(),
    numberId: integer('number_id').notNull(),
    carrier: text('carrier').notNull(),
    /** The carrier's id; null until the carrier has accepted the call. */
    carrierCallId: text('carrier_call_id'),
    direction: text('direction').notNull(),
    fromNumber: text('from_number').notNull(),
    toNumber: text('to_number').notNull(),
    status: text('status').notNull(),
    terminal: boolean('terminal').notNull().default(false),
    /** Why it ends or has ended; null while nothing ends it. */
    endReason: text('end_reason'),
    /** Data that a ConversationRelay application returned at the end. */
    handoffData: text('handoff_data'),
    keyId: integer('key_id'),
    taskId: text('task_id').notNull(),
    /** Value of the task to the caller in basis points, 10000 being the factor 1; null: none was given. */
    taskValueBps: integer('task_value_bps'),
    actionId: text('action_id'),
    customerId: text('customer_id'),
    /** Work under an `Idempotency-Key` that placed the call. A retry of that work finds this call and dials no second call. */
    workId: id('work_id'),
    /** The most that it may cost. */
    maxSpendRaw: raw('max_spend_raw').notNull(),
    /** The rate card as it was at the answer, so that a price change reaches only later calls. */
    rates: jsonb('rates').notNull(),
    /** Voice settings at the setup of the call, and options of the request for the call. */
    options: jsonb('options').notNull(),
    /** The carrier's last word, and its place in the carrier's order. */
    carrierStatus: text('carrier_status'),
    carrierSequence: integer('carrier_sequence').notNull().default(-1),
    answeredBy: text('answered_by'),
    /** Media streams that the carrier was requested to open, and media streams that have come: each request admits one. */
    streamsAsked: integer('streams_asked').notNull().default(0),
    streamsOpened: integer('streams_opened').notNull().default(0),
    /** When a worker asks the carrier about it, unless it is over by then. */
    dueAt: instant('due_at'),
    startedAt: instant('started_at'),
    endedAt: instant('ended_at'),
    durationSeconds: integer('duration_seconds'),
    /** Costs that the ledger settled, by leg; null until then. */
    transportRaw: raw('transport_raw'),
    sttRaw: raw('stt_raw'),
    ttsRaw: raw('tts_raw'),
    modelRaw: raw('model_raw'),
    isBackstop: boolean('is_backstop').notNull().default(false),
    /** Price that the carrier charged for the call, once it is known. */
    carrierPriceRaw: raw('carrier_price_raw'),
    /** When a worker asks the carrier for that price; null: it is known, or nothing was billed. */
    priceDueAt: instant('price_due_at'),
    /** The text that the carrier reads to the target of a transfer before it connects the caller. */
    transferSummary: text('transfer_summary'),
    /** Summary of the call: latency by turn, interruptions, jitter and underruns of the line. */
    summary: jsonb('summary'),
    /** Time at which the words of the call are deleted; null when they are deleted already, or the call lives. */
    reportUntil: instant('report_until'),
    /** When a worker analyzes it; null: it is analyzed, or has no report. */
    analysisDueAt: instant('analysis_due_at'),
    /** Analyses of the call that were begun. Only the first one calls a model. */
    analysisClaims: integer('analysis_claims').notNull().default(0),
    /** Result of the analysis: whether the call served its purpose, and the extracted facts. */
    analysis: jsonb('analysis'),
    /** The row of a batch that it was placed for; null: it was placed by itself. */
    batchId: id('batch_id'),
    batchRow: integer('batch_row'),
    createdAt: now('created_at'),
  },
  (table) => [
    uniqueIndex('calls_carrier_call').on(table.carrier, table.carrierCallId),
    uniqueIndex('calls_work').on(table.workId).where(sql`work_id is not null`),
    index('calls_agent').on(table.agentId, table.createdAt),
    index('calls_number').on(table.numberId, table.createdAt),
    index('calls_batch').on(table.batchId, table.batchRow).where(sql`batch_id is not null`),
    // Living calls are few: concurrency is counted over them, and the sweeper walks them.
    index('calls_living_agent').on(table.agentId).where(sql`not terminal`),
    index('calls_living_account').on(table.accountId).where(sql`not terminal`),
    index('calls_due').on(table.dueAt).where(sql`due_at is not null`),
    index('calls_price_due').on(table.priceDueAt).where(sql`price_due_at is not null`),
    index('calls_analysis_due').on(table.analysisDueAt).where(sql`analysis_due_at is not null`),
    index('calls_report_until').on(table.reportUntil).where(sql`report_until is not null`),
    check(
      'calls_status',
      sql`${table.status} in ('pending', 'in_progress', 'ending', 'completed', 'failed')`,
    ),
    check('calls_direction', sql`${table.direction} in ('inbound', 'outbound')`),
  ],
);

/** Turns of a call, from which another process continues it. Deleted at the end of the call, unless a report was requested. */
export const callTurns = pgTable(
  'call_turns',
  {
    callId: id('call_id').notNull(),
    seq: integer('seq').notNull(),
    role: text('role').notNull(),
    content: text('content').notNull(),
    /** Part of the turn that the caller or callee heard before an interruption; null when the whole turn was heard. */
    heard: text('heard'),
    /** Latency of each step of an answer to the caller or callee. */
    latency: jsonb('latency'),
    at: now('at'),
  },
  (table) => [primaryKey({ columns: [table.callId, table.seq] })],
);

/** Functions that models of calls have called. A row is written before the call, so that a function is called at most once. */
export const callTools = pgTable(
  'call_tools',
  {
    callId: id('call_id').notNull(),
    /** The model's id of the call. */
    toolCallId: id('tool_call_id').notNull(),
    name: text('name').notNull(),
    arguments: text('arguments').notNull(),
    /** Outcome of the call; null while the call is under way, or when its process was lost. */
    outcome: text('outcome'),
    result: text('result'),
    costRaw: raw('cost_raw').notNull().default(sql`0`),
    at: now('at'),
    /** Duration of the tool call. */
    ms: integer('ms'),
  },
  (table) => [
    primaryKey({ columns: [table.callId, table.toolCallId] }),
    check('call_tools_outcome', sql`${table.outcome} in ('done', 'failed')`),
  ],
);

/**
 * Commands of developers for a live call, accepted by any process. The process that has the call's media executes each once, in
 * their order; they are deleted at the end of the call.
 */
export const callCommands = pgTable(
  'call_commands',
  {
    id: integer('id').primaryKey().generatedAlwaysAsIdentity(),
    callId: id('call_id').notNull(),
    /** Work under an `Idempotency-Key` that sent the command. */
    workId: id('work_id'),
    command: jsonb('command').notNull(),
    createdAt: now('created_at'),
    takenAt: instant('taken_at'),
  },
  (table) => [
    index('call_commands_call').on(table.callId),
    index('call_commands_waiting').on(table.callId).where(sql`taken_at is null`),
    uniqueIndex('call_commands_work').on(table.workId).where(sql`work_id is not null`),
  ],
);

/** Recordings of calls, which lie at the carrier and are deleted there when their time is over. */
export const callRecordings = pgTable(
  'call_recordings',
  {
    callId: id('call_id').primaryKey(),
    agentId: integer('agent_id').notNull(),
    carrier: text('carrier').notNull(),
    /** The carrier's id; null until it has said it. */
    carrierRecordingId: text('carrier_recording_id'),
    status: text('status').notNull(),
    /** Time at which the caller or callee had heard that the call is recorded. */
    announcedAt: instant('announced_at').notNull(),
    /** Milliseconds from the answer until the carrier began the recording, and until the server stopped it; null: not yet. */
    beganMs: integer('began_ms'),
    stoppedMs: integer('stopped_ms'),
    durationSeconds: integer('duration_seconds'),
    /** Time at which a worker deletes the recording, or queries the carrier for it. */
    dueAt: instant('due_at'),
    deletedAt: instant('deleted_at'),
    createdAt: now('created_at'),
  },
  (table) => [
    index('call_recordings_due').on(table.dueAt).where(sql`due_at is not null`),
    check(
      'call_recordings_status',
      sql`${table.status} in ('recording', 'stopped', 'ready', 'failed', 'deleted')`,
    ),
  ],
);

/** Ends that a carrier has reported of calls that had no row then: a caller may give up while the call is admitted. */
export const endedEarly = pgTable(
  'calls_ended_early',
  {
    carrier: text('carrier').notNull(),
    carrierCallId: text('carrier_call_id').notNull(),
    status: text('status').notNull(),
    at: now('at'),
  },
  (table) => [
    primaryKey({ columns: [table.carrier, table.carrierCallId] }),
    index('calls_ended_early_at').on(table.at),
  ],
);
