import { marginRaw, sumPricesRaw } from '../../kernel/price.ts';
import type { TurnCharge } from '../session/voice-pipeline.ts';

/**
 * What a hold owes for it: every source at its own rates and margin, rounded up once; of what was paid by itself the
 * margin, rounded up each time.
 */
export function owedRaw(bought: readonly TurnCharge[]): bigint {
  let marginsRaw = 0n;
  const priced = bought.filter(({ paidRaw, source }) => {
    if (paidRaw !== undefined) marginsRaw += marginRaw(paidRaw, source.marginBps);
    return paidRaw === undefined;
  });
  return (
    marginsRaw +
    sumPricesRaw(
      priced.map(({ source: { rates, marginBps }, usage }) => ({ usage, rates, marginBps })),
    )
  );
}

/** What its upstreams tell of beyond what it can have come to. */
export function beyondRaw(bought: readonly TurnCharge[]): bigint {
  if (bought.every(({ told }) => told === undefined)) return 0n;
  const all = bought.map((one) => (one.told === undefined ? one : { ...one, ...one.told }));
  return owedRaw(all) - owedRaw(bought);
}

/** What was paid by itself for it, beside that. */
export const paidRawOf = (bought: readonly TurnCharge[]): bigint =>
  bought.reduce((sumRaw, { paidRaw = 0n }) => sumRaw + paidRaw, 0n);
