import type { Log } from '../../kernel/log.ts';
import type { Worker } from '../../kernel/schedule.ts';
import type { Sql } from '../../platform/postgres/sql.ts';
import type { Carrier, CarrierCall } from '../carriers/carrier.ts';
import { PHONE_LIMITS } from '../limits.ts';
import { comparePrice, nextAskMs, tripwiresOf } from './compare-price.ts';
import type { PriceMetrics } from './price-metrics.ts';
import { claimUnpriced, closePrice, putOffPrice, type UnpricedCall } from './price-store.ts';

const EVERY_MS = 30_000;
/** Milliseconds until a claimed call is due again, also when the process that claimed it died. */
const CLAIM_MS = 120_000;

export type PriceDeps = {
  readonly sql: Sql;
  readonly log: Log;
  readonly carrier: {
    readonly name: Carrier['name'];
    readonly calls: Pick<Carrier['calls'], 'find'>;
  };
  readonly metrics: PriceMetrics;
};

/**
 * Reads the carrier's price of each answered call, and compares it with the charge for the line. Nothing is charged later: the
 * operator gets a log line and metrics, the developer `marketplace.tripwire.triggered` in the commit that writes the price,
 * once for each call. Any number of processes share the work.
 */
export function askCarrierPrices(deps: PriceDeps): Worker {
  const { carrier, log, sql } = deps;
  return {
    name: 'ask-carrier-prices',
    everyMs: EVERY_MS,
    async tick() {
      const claim = { limit: PHONE_LIMITS.worker.duePerPass, claimMs: CLAIM_MS };
      const due = await claimUnpriced(sql, carrier.name, claim);
      await Promise.all(
        due.map((call) =>
          askPrice(deps, call).catch((err: unknown) =>
            log.warn(
              { err, callId: call.callId },
              'the price of a call was not asked; it is tried again',
            ),
          ),
        ),
      );
    },
  };
}

async function askPrice(deps: PriceDeps, call: UnpricedCall): Promise<void> {
  const { carrier, sql } = deps;
  let record: CarrierCall | undefined;
  try {
    record = await carrier.calls.find(call.carrierCallId);
  } catch (error) {
    // After a day without a response the carrier is not asked again.
    if (nextAskMs(call.ageMs) === undefined) await giveUp(deps, call);
    else await putOffPrice(sql, call.callId, nextAskMs(call.ageMs) ?? 0);
    throw error;
  }
  const carrierPriceRaw = record?.priceRaw ?? call.carrierPriceRaw;
  if (carrierPriceRaw !== null) {
    await compare(deps, call, carrierPriceRaw, record?.durationSeconds ?? null);
    return;
  }
  const waitMs = nextAskMs(call.ageMs);
  if (waitMs === undefined || record === undefined) await giveUp(deps, call);
  else await putOffPrice(sql, call.callId, waitMs);
}

async function compare(
  { carrier, log, metrics, sql }: PriceDeps,
  call: UnpricedCall,
  carrierPriceRaw: bigint,
  carrierSeconds: number | null,
): Promise<void> {
  const { callId, chargedRaw, durationSeconds } = call;
  const billed = { carrierPriceRaw, carrierSeconds, chargedRaw, durationSeconds };
  const verdict = comparePrice(billed);
  const isOurs = await closePrice(sql, call, carrierPriceRaw, tripwiresOf(billed, verdict));
  if (!isOurs) return;
  metrics.compared(verdict);
  const fields = {
    callId,
    carrier: carrier.name,
    chargedRaw: chargedRaw.toString(),
    carrierPriceRaw: carrierPriceRaw.toString(),
    excessRaw: verdict.excessRaw.toString(),
    durationSeconds,
    carrierSeconds,
  };
  if (verdict.isExceeded)
    log.warn(fields, 'the carrier took more for a call than its line was charged with');
  if (verdict.isDurationOff) log.warn(fields, 'the carrier counts another duration of a call');
}

async function giveUp(
  { carrier, log, metrics, sql }: PriceDeps,
  call: UnpricedCall,
): Promise<void> {
  if (!(await closePrice(sql, call, null))) return;
  metrics.gaveUp();
  log.warn(
    { callId: call.callId, carrier: carrier.name },
    'the carrier has told no price of a call',
  );
}
