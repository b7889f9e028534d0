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

/** Condition for a number that counts as its agent's one number. */
const LIVING = sql`status in ('buying', 'active', 'grace')`;

/** Numbers that agents rent or have rented. A released number keeps its row, since calls and charges name it. */
export const phoneNumbers = pgTable(
  'phone_numbers',
  {
    id: integer('id').primaryKey().generatedAlwaysAsIdentity(),
    agentId: integer('agent_id').notNull(),
    accountId: text('account_id').notNull(),
    carrier: text('carrier').notNull(),
    /** Carrier's id of the number; null until the carrier has sold the number. */
    carrierNumberId: text('carrier_number_id'),
    phoneNumber: text('phone_number').notNull(),
    areaCode: text('area_code'),
    status: text('status').notNull(),
    /** Monthly rental, fixed at the purchase. */
    monthlyRentalRaw: raw('monthly_rental_raw').notNull(),
    /**
     * Id of the hold of the first month. The carrier stores this id with the number, so that a lost purchase is found again.
     */
    purchaseId: id('purchase_id').notNull(),
    /** Key and tags of the purchase: any process may charge the first month. */
    keyId: integer('key_id'),
    taskId: text('task_id'),
    actionId: text('action_id'),
    customerId: text('customer_id'),
    /** Number of paid months, the first included. The postings of the renewals are named by it. */
    paidMonths: integer('paid_months').notNull().default(0),
    nextRenewalAt: instant('next_renewal_at'),
    graceUntil: instant('grace_until'),
    /** Time of the next work on the number: a renewal, another attempt to pay, or the end of a purchase or release. */
    dueAt: instant('due_at'),
    releasedAt: instant('released_at'),
    releaseReason: text('release_reason'),
    /** Time at which the number went back to the carrier. */
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

/** Voice settings of an agent on the phone. An agent without a row has the defaults. */
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
    /** Address that is queried before a call from outside is answered. */
    inboundUrl: text('inbound_url'),
    /** True when calls from outside are recorded, after an announcement. */
    recordCalls: boolean('record_calls').notNull().default(false),
    /** True when calls from outside get a report. */
    reportCalls: boolean('report_calls').notNull().default(false),
    /** Settings of how the agent listens and speaks; absent members have their defaults. */
    conversation: jsonb('conversation').notNull().default({}),
    /** The functions that a hosted model may call, as they were set. */
    tools: jsonb('tools').notNull().default([]),
    /** The secret that signs requests to the developer's functions is derived from this number. */
    secretVersion: integer('secret_version').notNull().default(1),
    /** The most calls that the agent has at a time; null: as many as the operator allows. */
    callsAtOnce: integer('calls_at_once'),
    updatedAt: now('updated_at'),
  },
  (table) => [check('voice_settings_mode', sql`${table.voiceMode} in ('hosted', 'webhook')`)],
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

/** The most calls that an account has at a time, where the operator allows it another number than all others. */
export const callLimits = pgTable('call_limits', {
  accountId: text('account_id').primaryKey(),
  calls: integer('calls').notNull(),
  updatedAt: now('updated_at'),
});

/** Reasons for which the phone service of every account is off, such as the carrier's monthly limit. */
export const telephonyStops = pgTable('telephony_stops', {
  reason: text('reason').primaryKey(),
  createdAt: now('created_at'),
});
