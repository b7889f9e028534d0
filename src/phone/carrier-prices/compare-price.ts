import type { CarrierTripwire } from '../../webhooks/phone-event.ts';
import { PHONE_LIMITS } from '../limits.ts';

/** A call with its charge by this server and its price at the carrier. */
export type BilledCall = {
  readonly chargedRaw: bigint;
  readonly durationSeconds: number;
  readonly carrierPriceRaw: bigint;
  /** Duration of the call in seconds, as the carrier reports it. Null: the carrier does not report it. */
  readonly carrierSeconds: number | null;
};

export type PriceVerdict = {
  /** The carrier's price less the charge of the line; below zero when the charge was higher. */
  readonly excessRaw: bigint;
  readonly isExceeded: boolean;
  /** True when the carrier's duration differs from this server's by more than `PHONE_LIMITS.carrier.durationToleranceSeconds`. */
  readonly isDurationOff: boolean;
};

/** Compares a carrier's price of a call with the charge for its line. */
export function comparePrice(call: BilledCall): PriceVerdict {
  const { carrierPriceRaw, carrierSeconds, chargedRaw, durationSeconds } = call;
  const excessRaw = carrierPriceRaw - chargedRaw;
  const offSeconds = carrierSeconds === null ? 0 : Math.abs(carrierSeconds - durationSeconds);
  return {
    excessRaw,
    isExceeded: excessRaw > 0n,
    isDurationOff: offSeconds > PHONE_LIMITS.carrier.durationToleranceSeconds,
  };
}

/** Returns the tripwires of a call whose carrier's record departs from its bill: at most one of each kind. */
export function tripwiresOf(
  { carrierPriceRaw, carrierSeconds, chargedRaw, durationSeconds }: BilledCall,
  { isDurationOff, isExceeded }: PriceVerdict,
): readonly CarrierTripwire[] {
  const tripwires: CarrierTripwire[] = [];
  if (isExceeded) {
    const [expected, observed] = [chargedRaw.toString(), carrierPriceRaw.toString()];
    tripwires.push({ tripwire: 'carrier_price', expected, observed });
  }
  if (isDurationOff && carrierSeconds !== null) {
    const [expected, observed] = [String(durationSeconds), String(carrierSeconds)];
    tripwires.push({ tripwire: 'carrier_duration', expected, observed });
  }
  return tripwires;
}

/**
 * Returns the milliseconds until the next request for the carrier's price of a call that ended `ageMs` ago: `ageMs` itself,
 * within `shortestWaitMs` and `longestWaitMs`. Undefined once `givenUpMs` have passed.
 */
export function nextAskMs(ageMs: number): number | undefined {
  const { givenUpMs, longestWaitMs, shortestWaitMs } = PHONE_LIMITS.carrier.price;
  if (ageMs >= givenUpMs) return undefined;
  return Math.min(longestWaitMs, Math.max(shortestWaitMs, ageMs));
}
