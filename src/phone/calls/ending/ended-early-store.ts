import type { Sql } from '../../../platform/postgres/sql.ts';
import type { CarrierName, CarrierStatus } from '../../carriers/carrier.ts';
import { PHONE_LIMITS } from '../../limits.ts';

type CarrierCallName = { readonly carrier: CarrierName; readonly carrierCallId: string };

/**
 * Keeps the end of a call that has no row yet for `endedEarlyMs`: its caller gave up while the call was being admitted. Beyond
 * `endedEarly` ends, further ones are dropped.
 */
export async function noteEndedEarly(
  sql: Sql,
  { carrier, carrierCallId, status }: CarrierCallName & { readonly status: CarrierStatus },
): Promise<void> {
  const { endedEarly, endedEarlyMs } = PHONE_LIMITS.call;
  await sql`delete from calls_ended_early
    where at < now() - ${endedEarlyMs} * interval '1 millisecond'`;
  await sql`insert into calls_ended_early (carrier, carrier_call_id, status)
    select ${carrier}, ${carrierCallId}, ${status}
    where (select count(*) from calls_ended_early) < ${endedEarly}
    on conflict do nothing`;
}

/**
 * Deletes and returns the end status that a callback brought before the call's row was written. Undefined when none was stored.
 */
export async function takeEndedEarly<Status extends CarrierStatus>(
  sql: Sql,
  { carrier, carrierCallId }: CarrierCallName,
): Promise<Status | undefined> {
  const [row] = await sql<{ status: Status }[]>`delete from calls_ended_early
    where carrier = ${carrier} and carrier_call_id = ${carrierCallId} returning status`;
  return row?.status;
}
