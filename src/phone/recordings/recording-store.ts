import type { Queryable, Sql } from '../../platform/postgres/sql.ts';
import type { CarrierName } from '../carriers/carrier.ts';
import { PHONE_LIMITS } from '../limits.ts';
import type { Recording } from './recording.ts';

const columns = (sql: Queryable) => sql`
  call_id as "callId", carrier, carrier_recording_id as "carrierRecordingId", status,
  announced_at as "announcedAt", began_ms as "beganMs", stopped_ms as "stoppedMs",
  duration_seconds as "durationSeconds"`;

export async function findRecording(
  sql: Queryable,
  callId: string,
): Promise<Recording | undefined> {
  const [row] = await sql<Recording[]>`
    select ${columns(sql)} from call_recordings where call_id = ${callId}`;
  return row;
}

/** Writes the row of a recording, before the request to the carrier. Returns false when the row exists. */
export async function insertRecording(
  sql: Sql,
  recording: {
    readonly callId: string;
    readonly agentId: number;
    readonly carrier: CarrierName;
    readonly announcedAt: Date;
  },
): Promise<boolean> {
  const { agentId, announcedAt, callId, carrier } = recording;
  const rows = await sql`
    insert into call_recordings (call_id, agent_id, carrier, status, announced_at, due_at)
    values (${callId}, ${agentId}, ${carrier}, 'recording', ${announcedAt},
      now() + ${PHONE_LIMITS.recording.askMs} * interval '1 millisecond')
    on conflict (call_id) do nothing
    returning 1`;
  return rows.length > 0;
}

/** Stores the age of the line at which the carrier began to record. The carrier's callback may have come before. */
export async function noteBegan(
  sql: Sql,
  callId: string,
  { beganMs, recordingId }: { readonly beganMs: number; readonly recordingId: string | undefined },
): Promise<void> {
  await sql`
    update call_recordings set began_ms = ${beganMs},
      carrier_recording_id = coalesce(carrier_recording_id, ${recordingId ?? null})
    where call_id = ${callId}`;
}

/** Stores that the carrier has stopped recording; the recorded part stays. */
export async function noteEnded(sql: Sql, callId: string, stoppedMs: number): Promise<void> {
  await sql`update call_recordings set stopped_ms = coalesce(stopped_ms, ${stoppedMs})
    where call_id = ${callId}`;
}

/** Marks a recording as failed: the carrier does not record. */
export async function noteFailed(sql: Sql, callId: string): Promise<void> {
  await sql`update call_recordings set status = 'failed'
    where call_id = ${callId} and status = 'recording'`;
}

/** Marks a recording as stopped, because the caller or callee did not agree. It is deleted as soon as the carrier has it. */
export async function noteStopped(sql: Sql, callId: string, stoppedMs: number): Promise<void> {
  await sql`
    update call_recordings set status = 'stopped', stopped_ms = ${stoppedMs}, due_at = now()
    where call_id = ${callId} and status in ('recording', 'failed', 'ready')`;
}

/**
 * Notes that the carrier has the whole recording, and that it is deleted `days` after the notice. Returns the recording when
 * it may be fetched from now on; undefined for a repeated callback, and for a side that did not agree.
 */
export async function noteSaved(
  tx: Queryable,
  callId: string,
  saved: { readonly recordingId: string; readonly durationSeconds: number; readonly days: number },
): Promise<Recording | undefined> {
  const { days, durationSeconds, recordingId } = saved;
  await tx`
    update call_recordings set carrier_recording_id = ${recordingId},
      duration_seconds = ${durationSeconds}, due_at = now()
    where call_id = ${callId} and status = 'stopped'`;
  const [row] = await tx<Recording[]>`
    update call_recordings set status = 'ready', duration_seconds = ${durationSeconds},
      carrier_recording_id = ${recordingId}, due_at = announced_at + ${days} * interval '1 day'
    where call_id = ${callId} and status in ('recording', 'failed')
    returning ${columns(tx)}`;
  return row;
}

/**
 * Claims up to `limit` recordings of a carrier that are due for a look-up or for deletion. No other process gets them for
 * `claimMs`.
 */
export async function claimDueRecordings(
  sql: Sql,
  carrier: CarrierName,
  limit: number,
  claimMs: number,
): Promise<Recording[]> {
  const rows = await sql<Recording[]>`
    update call_recordings set due_at = now() + ${claimMs} * interval '1 millisecond'
    where call_id in (
      select call_id from call_recordings where due_at <= now() and carrier = ${carrier}
      order by due_at limit ${limit} for update skip locked)
    returning ${columns(sql)}`;
  return [...rows];
}

/**
 * Schedules the next look-up of a recording that the carrier does not have yet, and stores the recording's id if the carrier
 * gave one.
 */
export async function putOffRecording(
  sql: Sql,
  callId: string,
  { inMs, recordingId }: { readonly recordingId: string | undefined; readonly inMs: number },
): Promise<void> {
  await sql`
    update call_recordings set due_at = now() + ${inMs} * interval '1 millisecond',
      carrier_recording_id = coalesce(carrier_recording_id, ${recordingId ?? null})
    where call_id = ${callId} and duration_seconds is null and due_at > now()`;
}

/** Gives up the look-up of a recording at the carrier. */
export async function noteLost(sql: Sql, callId: string): Promise<void> {
  await sql`update call_recordings set due_at = null,
      status = case status when 'recording' then 'failed' else status end
    where call_id = ${callId} and duration_seconds is null`;
}

/** Marks a recording as deleted: the carrier has it no more. */
export async function noteDeleted(sql: Sql, callId: string): Promise<void> {
  await sql`update call_recordings set status = 'deleted', deleted_at = now(), due_at = null
    where call_id = ${callId}`;
}
