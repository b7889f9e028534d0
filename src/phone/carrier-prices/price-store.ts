import { insertEvents } from '../../ledger/store/agent-funds.ts';
import type { Sql } from '../../platform/postgres/sql.ts';
import { type CarrierTripwire, carrierTripped } from '../../webhooks/phone-event.ts';
import { findWallet } from '../calls/account-store.ts';
import type { CarrierName } from '../carriers/carrier.ts';

/** A call that is over and lacks the carrier's price. */
export type UnpricedCall = {
  readonly callId: string;
  readonly agentId: number;
  readonly accountId: string;
  readonly carrierCallId: string;
  readonly chargedRaw: bigint;
  readonly durationSeconds: number;
  /** Price that a callback of the carrier has reported. Null: no callback had a price. */
  readonly carrierPriceRaw: bigint | null;
  /** Milliseconds since the end of the call. */
  readonly ageMs: number;
};

type Row = {
  id: string;
  agent_id: number;
  account_id: string;
  carrier_call_id: string;
  transport_raw: bigint | null;
  duration_seconds: number | null;
  carrier_price_raw: bigint | null;
  age_ms: number;
};

/** Claims up to `limit` calls of a carrier whose price is due to be read. Other processes do not get them for `claimMs`. */
export async function claimUnpriced(
  sql: Sql,
  carrier: CarrierName,
  { claimMs, limit }: { readonly claimMs: number; readonly limit: number },
): Promise<readonly UnpricedCall[]> {
  const rows = await sql<Row[]>`
    update calls set price_due_at = now() + ${claimMs} * interval '1 millisecond'
    where id in (
      select id from calls
      where price_due_at <= now() and carrier = ${carrier} and carrier_call_id is not null
      order by price_due_at limit ${limit} for update skip locked)
    returning id, agent_id, account_id, carrier_call_id, transport_raw, duration_seconds, carrier_price_raw,
      (extract(epoch from now() - ended_at) * 1000)::float8 as age_ms`;
  return rows.map((row) => ({
    callId: row.id,
    agentId: row.agent_id,
    accountId: row.account_id,
    carrierCallId: row.carrier_call_id,
    chargedRaw: row.transport_raw ?? 0n,
    durationSeconds: row.duration_seconds ?? 0,
    carrierPriceRaw: row.carrier_price_raw,
    ageMs: row.age_ms,
  }));
}

/** Schedules the next request for the carrier's price in `inMs` milliseconds. */
export async function putOffPrice(sql: Sql, callId: string, inMs: number): Promise<void> {
  await sql`update calls set price_due_at = now() + ${inMs} * interval '1 millisecond'
    where id = ${callId} and price_due_at is not null`;
}

/**
 * Writes the carrier's price, or null when it is given up, and an event for each tripwire in the same commit. Returns false
 * when another process was first.
 */
export async function closePrice(
  sql: Sql,
  { accountId, agentId, callId }: Pick<UnpricedCall, 'callId' | 'agentId' | 'accountId'>,
  priceRaw: bigint | null,
  tripwires: readonly CarrierTripwire[] = [],
): Promise<boolean> {
  return sql.begin(async (tx) => {
    const rows = await tx`
      update calls set price_due_at = null,
        carrier_price_raw = coalesce(${priceRaw?.toString() ?? null}::bigint, carrier_price_raw)
      where id = ${callId} and price_due_at is not null returning 1`;
    if (rows.length === 0) return false;
    if (tripwires.length > 0) {
      const call = { callId, accountId, agentWallet: await findWallet(tx, agentId) };
      await insertEvents(
        tx,
        tripwires.map((tripwire) => carrierTripped(call, tripwire)),
      );
    }
    return true;
  });
}
