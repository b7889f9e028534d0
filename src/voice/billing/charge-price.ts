import { marginRaw, type PricedUsage, sumPricesRaw } from '../../kernel/price.ts';
import type { TurnCharge } from '../session/voice-pipeline.ts';

/**
 * Returns the amount that a hold owes for charges: usage at the rates and margin of each source, rounded up once. For a
 * charge that was paid per call, the hold owes the margin alone, rounded up each time.
 */
export function owedRaw(bought: readonly TurnCharge[]): bigint {
  let knownRaw = 0n;
  const unpriced: PricedUsage[] = [];
  for (const { paidRaw, priced, source, usage } of bought) {
    const { marginBps, rates } = source;
    if (paidRaw !== undefined) knownRaw += marginRaw(paidRaw, marginBps);
    if (priced !== undefined) knownRaw += priced.costRaw;
    if (paidRaw === undefined && priced === undefined) unpriced.push({ usage, rates, marginBps });
  }
  return knownRaw + sumPricesRaw(unpriced);
}

/** Returns the price of the usage that upstreams report beyond the possible usage. */
export function beyondRaw(bought: readonly TurnCharge[]): bigint {
  if (bought.every(({ reported }) => reported === undefined)) return 0n;
  const all = bought.map((one) => (one.reported === undefined ? one : { ...one, ...one.reported }));
  return owedRaw(all) - owedRaw(bought);
}

/** Returns the amount that was paid per call, outside the hold. */
export const paidRawOf = (bought: readonly TurnCharge[]): bigint =>
  bought.reduce((sumRaw, { paidRaw = 0n }) => sumRaw + paidRaw, 0n);
