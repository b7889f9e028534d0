import { bigserial, integer, jsonb, pgTable, text } from 'drizzle-orm/pg-core';
import { id, instant, now } from '../columns.ts';

/** Acts of the operator, each written in the commit of the act. Append-only, and kept for ever. */
export const adminActs = pgTable('admin_acts', {
  id: bigserial('id', { mode: 'bigint' }).primaryKey(),
  at: now('at'),
  /** Closed list, such as `agent.close`. */
  act: text('act').notNull(),
  /** Agent, account, reservation or reason that the act was about. */
  target: text('target').notNull(),
  detail: jsonb('detail').notNull(),
  requestId: text('request_id').notNull(),
  clientAddress: text('client_address').notNull(),
});

/** Alarms about facts that leave no other row: one row an alarm, raised again each time. */
export const alarms = pgTable('alarms', {
  name: id('name').primaryKey(),
  /** First time since the alarm was last off. */
  since: instant('since').notNull(),
  lastAt: instant('last_at').notNull(),
  count: integer('count').notNull(),
});
