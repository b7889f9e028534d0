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

/** The states in which a number occupies its agent's one place. */
const LIVING = sql`status in ('buying', 'active', 'grace')`;

/** Numbers that agents rent or have rented. A released one keeps its row, since calls and charges name it. */
export const phoneNumbers = pgTable(
  'phone_numbers',
  {
    id: integer('id').primaryKey().generatedAlwaysAsIdentity(),
    agentId: integer('agent_id').notNull(),
    accountId: text('account_id').notNull(),
    carrier: text('carrier').notNull(),
    /** The carrier's name of it; null until the carrier has sold it. */
    carrierNumberId: text('carrier_number_id'),
    phoneNumber: text('phone_number').notNull(),
    areaCode: text('area_code'),
    status: text('status').notNull(),
    /** Locked at purchase. */
    monthlyRentalRaw: raw('monthly_rental_raw').notNull(),
    /** The hold of the first month. The carrier keeps it beside the number, so that a purchase is found again. */
    purchaseId: id('purchase_id').notNull(),
    /** Who bought it and what for: any process may charge the first month. */
    keyId: integer('key_id'),
    taskId: text('task_id'),
    actionId: text('action_id'),
    customerId: text('customer_id'),
    /** Months that are paid, the first included: names the postings of the renewals. */
    paidMonths: integer('paid_months').notNull().default(0),
    nextRenewalAt: instant('next_renewal_at'),
    graceUntil: instant('grace_until'),
    /** When a worker looks at it next: to renew, to retry a payment, to end a purchase or a release. */
    dueAt: instant('due_at'),
    releasedAt: instant('released_at'),
    releaseReason: text('release_reason'),
    /** The carrier has it back. */
    returnedAt: instant('returned_at'),
    createdAt: now('created_at'),
  },
  (table) => [
    uniqueIndex('phone_numbers_agent_living').on(table.agentId).where(LIVING),
    uniqueIndex('phone_numbers_number_living').on(table.phoneNumber).where(LIVING),
    uniqueIndex('phone_numbers_purchase').on(table.purchaseId),
    index('phone_numbers_agent').on(table.agentId, table.id),
    index('phone_numbers_account').on(table.accountId, table.id),
    index('phone_numbers_due').on(table.dueAt).where(sql`due_at is not null`),
    check(
      'phone_numbers_status',
      sql`${table.status} in ('buying', 'active', 'grace', 'released', 'failed')`,
    ),
  ],
);

/** How an agent talks on the phone. An agent without a row has the defaults. */
export const voiceSettings = pgTable(
  'voice_settings',
  {
    agentId: integer('agent_id').primaryKey(),
    voiceMode: text('voice_mode').notNull().default('hosted'),
    systemPrompt: text('system_prompt'),
    beginMessage: text('begin_message'),
    voice: text('voice'),
    model: text('model'),
    webhookUrl: text('webhook_url'),
    /** Calls from outside are recorded, after an announcement. */
    recordCalls: boolean('record_calls').notNull().default(false),
    /** Calls from outside have a report. */
    reportCalls: boolean('report_calls').notNull().default(false),
    updatedAt: now('updated_at'),
  },
  (table) => [check('voice_settings_mode', sql`${table.voiceMode} in ('hosted', 'webhook')`)],
);

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
    /** Why it ended; null while it lives, and of a call that was never answered. */
    endReason: text('end_reason'),
    keyId: integer('key_id'),
    taskId: text('task_id').notNull(),
    /** What the task is worth to the caller, 10000 being once; null: it was not said. */
    taskValueBps: integer('task_value_bps'),
    actionId: text('action_id'),
    customerId: text('customer_id'),
    /** The work under an `Idempotency-Key` that placed it: a retry of that work finds its call, and rings nobody. */
    workId: id('work_id'),
    /** The most that it may cost. */
    maxSpendRaw: raw('max_spend_raw').notNull(),
    /** The rate card as it was at the answer, so that a price change reaches only later calls. */
    rates: jsonb('rates').notNull(),
    /** The voice settings of its setup, and what its caller asked for. */
    options: jsonb('options').notNull(),
    /** The carrier's last word, and its place in the carrier's order. */
    carrierStatus: text('carrier_status'),
    carrierSequence: integer('carrier_sequence').notNull().default(-1),
    answeredBy: text('answered_by'),
    /** Media streams that the carrier was asked for, and those that have come: each request admits one. */
    streamsAsked: integer('streams_asked').notNull().default(0),
    streamsOpened: integer('streams_opened').notNull().default(0),
    /** When a worker asks the carrier about it, unless it is over by then. */
    dueAt: instant('due_at'),
    startedAt: instant('started_at'),
    endedAt: instant('ended_at'),
    durationSeconds: integer('duration_seconds'),
    /** What the ledger took, by leg; null until it is settled. */
    transportRaw: raw('transport_raw'),
    sttRaw: raw('stt_raw'),
    ttsRaw: raw('tts_raw'),
    modelRaw: raw('model_raw'),
    isBackstop: boolean('is_backstop').notNull().default(false),
    /** What the carrier took for it, once it says so. */
    carrierPriceRaw: raw('carrier_price_raw'),
    /** When a worker asks the carrier for that price; null: it is known, or nothing was billed. */
    priceDueAt: instant('price_due_at'),
    /** The text that the carrier reads to the target of a transfer before it connects the caller. */
    transferSummary: text('transfer_summary'),
    /** How it went: latency by turn, interruptions, jitter and underruns of its line. */
    summary: jsonb('summary'),
    /** When what was said is deleted; null: it is deleted already, or the call lives. */
    reportUntil: instant('report_until'),
    /** When a worker analyzes it; null: it is analyzed, or has no report. */
    analysisDueAt: instant('analysis_due_at'),
    /** How often that was begun: a model is asked the first time only. */
    analysisClaims: integer('analysis_claims').notNull().default(0),
    /** What came of that: whether it served its purpose, and by which facts. */
    analysis: jsonb('analysis'),
    createdAt: now('created_at'),
  },
  (table) => [
    uniqueIndex('calls_carrier_call').on(table.carrier, table.carrierCallId),
    uniqueIndex('calls_work').on(table.workId).where(sql`work_id is not null`),
    index('calls_agent').on(table.agentId, table.createdAt),
    index('calls_number').on(table.numberId, table.createdAt),
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

/**
 * What was said in a call, so that another process can go on with it. It is deleted at the end of the call, unless a
 * report was asked for.
 */
export const callTurns = pgTable(
  'call_turns',
  {
    callId: id('call_id').notNull(),
    seq: integer('seq').notNull(),
    role: text('role').notNull(),
    content: text('content').notNull(),
    /** What the far side heard of it before an interruption; null: all of it. */
    heard: text('heard'),
    /** The latency chain of an answer to the far side. */
    latency: jsonb('latency'),
    at: now('at'),
  },
  (table) => [primaryKey({ columns: [table.callId, table.seq] })],
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
    /** When the far side had heard that the call is recorded. */
    announcedAt: instant('announced_at').notNull(),
    /** Milliseconds from the answer until the carrier began the recording, and until the server stopped it; null: not yet. */
    beganMs: integer('began_ms'),
    stoppedMs: integer('stopped_ms'),
    durationSeconds: integer('duration_seconds'),
    /** When a worker deletes it, or asks the carrier for it. */
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

/** Numbers that an account must not call. */
export const doNotCall = pgTable(
  'do_not_call',
  {
    accountId: text('account_id').notNull(),
    phoneNumber: text('phone_number').notNull(),
    createdAt: now('created_at'),
  },
  (table) => [primaryKey({ columns: [table.accountId, table.phoneNumber] })],
);

/** Accounts whose phone service is suspended, and why. */
export const telephonySuspensions = pgTable('telephony_suspensions', {
  accountId: text('account_id').primaryKey(),
  reason: text('reason').notNull(),
  createdAt: now('created_at'),
});

/** Why the phone service of every account is off, such as the carrier's limit of the month. */
export const telephonyStops = pgTable('telephony_stops', {
  reason: text('reason').primaryKey(),
  createdAt: now('created_at'),
});
