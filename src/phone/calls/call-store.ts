import type { CallEvent } from '../../../machines/call.ts';
import type { Queryable, Sql } from '../../platform/postgres/sql.ts';
import type { AnsweredBy, CarrierName, CarrierStatus } from '../carriers/carrier.ts';
import { PHONE_LIMITS } from '../limits.ts';
import type { LegCosts, RateCard } from '../rate-card.ts';
import type { LineFigures } from '../records/line-figures.ts';
import { closeRecord } from '../records/record-store.ts';
import { advanceCall, type CallStatus } from './advance-call.ts';
import { type Call, type CallOptions, isCallId } from './call.ts';
import { reportUnanswered } from './ending/report-unanswered.ts';

/** A row of the table `calls`, with the columns of `callColumns`. */
export type CallRow = {
  id: string;
  agent_id: number;
  account_id: string;
  number_id: number;
  carrier: CarrierName;
  carrier_call_id: string | null;
  direction: Call['direction'];
  from_number: string;
  to_number: string;
  status: CallStatus;
  terminal: boolean;
  end_reason: Call['endReason'];
  key_id: number | null;
  key_root_id: number | null;
  task_id: string;
  task_value_bps: number | null;
  action_id: string | null;
  customer_id: string | null;
  max_spend_raw: bigint;
  rates: StoredRates;
  options: CallOptions;
  carrier_status: CarrierStatus | null;
  carrier_sequence: number;
  answered_by: AnsweredBy | null;
  handoff_data: string | null;
  created_at: Date;
  started_at: Date | null;
  ended_at: Date | null;
  duration_seconds: number | null;
  transport_raw: bigint | null;
  stt_raw: bigint | null;
  tts_raw: bigint | null;
};

/** Rates as they are stored: JSON has no big integers, so amounts are strings. */
export type StoredRates = Readonly<Record<keyof RateCard, string | number>>;

const readRates = (stored: StoredRates): RateCard =>
  Object.fromEntries(
    Object.entries(stored).map(([name, value]) => [
      name,
      typeof value === 'string' ? BigInt(value) : value,
    ]),
  ) as unknown as RateCard;

export const callOf = (row: CallRow): Call => ({
  callId: row.id,
  agentId: row.agent_id,
  accountId: row.account_id,
  numberId: row.number_id,
  carrier: row.carrier,
  carrierCallId: row.carrier_call_id,
  direction: row.direction,
  from: row.from_number,
  to: row.to_number,
  status: row.status,
  terminal: row.terminal,
  endReason: row.end_reason,
  keyId: row.key_id,
  keyRootId: row.key_root_id,
  taskId: row.task_id,
  taskValueBps: row.task_value_bps,
  actionId: row.action_id,
  customerId: row.customer_id,
  maxSpendRaw: row.max_spend_raw,
  rates: readRates(row.rates),
  options: row.options,
  carrierStatus: row.carrier_status,
  carrierSequence: row.carrier_sequence,
  answeredBy: row.answered_by,
  handoffData: row.handoff_data,
  createdAt: row.created_at,
  startedAt: row.started_at,
  endedAt: row.ended_at,
  durationSeconds: row.duration_seconds,
  legs:
    row.transport_raw === null
      ? null
      : {
          transportRaw: row.transport_raw,
          sttRaw: row.stt_raw ?? 0n,
          ttsRaw: row.tts_raw ?? 0n,
        },
});

export const callColumns = (sql: Queryable) => sql`
  id, agent_id, account_id, number_id, carrier, carrier_call_id, direction, from_number, to_number,
  status, terminal, end_reason, key_id, task_id, task_value_bps, action_id, customer_id, max_spend_raw,
  (select coalesce(k.root_id, k.id) from agent_keys k where k.id = calls.key_id) as key_root_id, rates, options,
  carrier_status, carrier_sequence, answered_by, handoff_data, created_at, started_at, ended_at, duration_seconds,
  transport_raw, stt_raw, tts_raw`;

/**
 * Finds a call. Undefined when there is none, also for a text that cannot be a call id, such as one with a NUL character, which
 * PostgreSQL refuses.
 */
export async function findCall(sql: Queryable, callId: string): Promise<Call | undefined> {
  if (!isCallId(callId)) return undefined;
  const [row] = await sql<CallRow[]>`select ${callColumns(sql)} from calls where id = ${callId}`;
  return row && callOf(row);
}

export async function findCarrierCall(
  sql: Queryable,
  carrier: CarrierName,
  carrierCallId: string,
): Promise<Call | undefined> {
  const [row] = await sql<CallRow[]>`
    select ${callColumns(sql)} from calls where carrier = ${carrier} and carrier_call_id = ${carrierCallId}`;
  return row && callOf(row);
}

/** Stores the carrier's id of a call, and returns the call's status. Undefined when an id was stored before. */
export async function learnCarrierCall(
  sql: Sql,
  callId: string,
  carrierCallId: string,
): Promise<CallStatus | undefined> {
  const [row] = await sql<CallRow[]>`update calls set carrier_call_id = ${carrierCallId}
    where id = ${callId} and carrier_call_id is null returning status`;
  return row?.status;
}

/**
 * Stores the carrier's status, unless a later status is stored. The last status ends the line and erases the summary for a
 * transfer.
 */
export async function noteCarrierStatus(
  sql: Sql,
  callId: string,
  {
    isLast,
    sequence,
    status,
  }: { readonly status: CarrierStatus; readonly sequence: number; readonly isLast: boolean },
): Promise<void> {
  await sql`update calls set carrier_status = ${status}, carrier_sequence = ${sequence},
      transfer_summary = case when ${isLast} then null else transfer_summary end,
      ended_at = case when ${isLast} then coalesce(ended_at, now()) else ended_at end
    where id = ${callId} and carrier_sequence < ${sequence}`;
}

export async function noteCarrierPrice(sql: Sql, callId: string, priceRaw: bigint): Promise<void> {
  await sql`update calls set carrier_price_raw = ${priceRaw.toString()} where id = ${callId}`;
}

/**
 * Counts one more media stream that the carrier is to open. Returns false when the call is over, `streamsMissed` streams never
 * came, or `streamsPerCall` streams were requested.
 */
export async function askForStream(sql: Sql, callId: string): Promise<boolean> {
  const rows = await sql`
    update calls set streams_asked = streams_asked + 1
    where id = ${callId} and not terminal
      and streams_asked - streams_opened < ${PHONE_LIMITS.media.streamsMissed}
      and streams_asked < ${PHONE_LIMITS.media.streamsPerCall}
    returning 1`;
  return rows.length > 0;
}

/**
 * Admits a media stream of a call. Undefined when all streams that were requested of the carrier have come, or the call is over
 * or transferred.
 */
export async function admitStream(sql: Sql, callId: string): Promise<Call | undefined> {
  const [row] = await sql<CallRow[]>`
    update calls set streams_opened = streams_opened + 1
    where id = ${callId} and not terminal and streams_opened < streams_asked
      and end_reason is distinct from 'call_transfer'
    returning ${callColumns(sql)}`;
  return row && callOf(row);
}

/** Figures that are written to the row of a call at its end. */
export type CallEnd = {
  readonly durationSeconds: number;
  readonly legs: LegCosts;
  readonly isBackstop: boolean;
  /** Line figures of the process that had the media stream of the call. */
  readonly line?: LineFigures;
};

const NOTHING_USED: CallEnd = {
  durationSeconds: 0,
  legs: { transportRaw: 0n, sttRaw: 0n, ttsRaw: 0n },
  isBackstop: false,
};

/**
 * Advances a call by an event, as its machine says. Returns undefined when the event changes nothing, since it comes late,
 * twice or after the end. An event that ends the call also writes `end`, and reports a call that was never answered.
 */
export async function applyToCall(
  tx: Queryable,
  callId: string,
  event: CallEvent,
  end: CallEnd = NOTHING_USED,
): Promise<Call | undefined> {
  const [stored] = await tx<CallRow[]>`
    select ${callColumns(tx)} from calls where id = ${callId} for no key update`;
  const next = stored && advanceCall(callOf(stored), event);
  if (next === undefined) return undefined;
  const { endReason, status, terminal } = next;
  const { legs } = end;
  const [row] = await tx<CallRow[]>`
    update calls set status = ${status}, terminal = ${terminal}, end_reason = ${endReason},
      started_at = case when ${event.type === 'media.opened'} then coalesce(started_at, now())
        else started_at end,
      ended_at = case when ${terminal} then coalesce(ended_at, now()) else ended_at end,
      due_at = case when ${terminal} then null else due_at end,
      price_due_at = case when ${terminal} and started_at is not null
        then now() + ${PHONE_LIMITS.carrier.price.shortestWaitMs} * interval '1 millisecond' end,
      duration_seconds = case when ${terminal} then ${end.durationSeconds}::integer end,
      transport_raw = case when ${terminal} then ${legs.transportRaw.toString()}::bigint end,
      stt_raw = case when ${terminal} then ${legs.sttRaw.toString()}::bigint end,
      tts_raw = case when ${terminal} then ${legs.ttsRaw.toString()}::bigint end,
      is_backstop = ${terminal && end.isBackstop}
    where id = ${callId}
    returning ${callColumns(tx)}`;
  const call = row && callOf(row);
  if (!call?.terminal) return call;
  await closeRecord(tx, call, end.line);
  if (call.startedAt === null) await reportUnanswered(tx, call, event, end);
  return call;
}

/** Advances the row of a call by an event, in a transaction of its own. */
export const advanceRow = (
  sql: Sql,
  callId: string,
  event: CallEvent,
  end?: CallEnd,
): Promise<Call | undefined> => sql.begin((tx) => applyToCall(tx, callId, event, end));

/** Postpones the time at which a worker asks the carrier about a call. */
export async function putOffCall(sql: Sql, callId: string, inMs: number): Promise<void> {
  await sql`update calls set due_at = now() + ${inMs} * interval '1 millisecond'
    where id = ${callId} and not terminal`;
}
