import type { Policy } from './policy.ts';

const WHOLE_BPS = 10_000;

/** What beside the policy itself decides how much it allows. */
export type CapReading = {
  /** What the caller says the task is worth, 10000 being once; null: it does not say. */
  readonly taskValueBps: number | null;
  /** How well outcomes were, in bps, by the seconds of the window; null: none was reported. */
  readonly quality: ReadonlyMap<number, number | null>;
};

/**
 * How much a policy allows: the one computation behind enforcement, preflight, estimate and advisory. The value of
 * the task moves the limit between floor and ceiling (each the limit itself where it is not set; without either it is
 * not moved); poor quality tightens the result, no further than the policy says and never below a floor that is set.
 */
export function effectiveCapRaw(policy: Policy, reading: CapReading): bigint {
  const valued = valuedRaw(policy, reading.taskValueBps);
  const { qualityFloorBps, qualityWindowSeconds, limitFloorRaw } = policy;
  if (qualityFloorBps === null || qualityWindowSeconds === null) return valued;
  const quality = reading.quality.get(qualityWindowSeconds);
  if (quality === undefined || quality === null) return valued;
  const throttled = (valued * BigInt(Math.max(quality, qualityFloorBps))) / BigInt(WHOLE_BPS);
  return limitFloorRaw !== null && throttled < limitFloorRaw ? limitFloorRaw : throttled;
}

function valuedRaw(policy: Policy, taskValueBps: number | null): bigint {
  const { limitRaw, limitFloorRaw, limitCeilingRaw } = policy;
  if (taskValueBps === null || (limitFloorRaw === null && limitCeilingRaw === null)) {
    return limitRaw;
  }
  const scaled = (limitRaw * BigInt(taskValueBps)) / BigInt(WHOLE_BPS);
  const floor = limitFloorRaw ?? limitRaw;
  const ceiling = limitCeilingRaw ?? limitRaw;
  if (scaled < floor) return floor;
  return scaled > ceiling ? ceiling : scaled;
}
