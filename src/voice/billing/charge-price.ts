import { marginRaw, sumPricesRaw } from '../../kernel/price.ts';
import type { TurnCharge } from '../session/voice-pipeline.ts';

/**
 * What a hold owes for charges: each source at its own rates and margin, rounded up once. For a charge that was paid
 * per call it owes the margin alone, rounded up each time.
 */
export function owedRaw(bought: readonly TurnCharge[]): bigint {
  let knownRaw = 0n;
  const unpriced = bought.filter(({ paidRaw, priced, source }) => {
    if (paidRaw !== undefined) knownRaw += marginRaw(paidRaw, source.marginBps);
    if (priced !== undefined) knownRaw += priced.costRaw;
    return paidRaw === undefined && priced === undefined;
  });
  return (
    knownRaw +
    sumPricesRaw(
      unpriced.map(({ source: { rates, marginBps }, usage }) => ({ usage, rates, marginBps })),
    )
  );
}

/** The price of what upstreams report beyond what is possible. */
export function beyondRaw(bought: readonly TurnCharge[]): bigint {
  if (bought.every(({ reported }) => reported === undefined)) return 0n;
  const all = bought.map((one) => (one.reported === undefined ? one : { ...one, ...one.reported }));
  return owedRaw(all) - owedRaw(bought);
}

/** What was paid per call, outside the hold. */
export const paidRawOf = (bought: readonly TurnCharge[]): bigint =>
  bought.reduce((sumRaw, { paidRaw = 0n }) => sumRaw + paidRaw, 0n);
