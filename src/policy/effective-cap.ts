import type { Policy } from './policy.ts';

const WHOLE_BPS = 10_000;

/** Facts beside the policy itself that decide its present cap. */
export type CapReading = {
  /** Factor in bps by which the caller values the task: 10000 is once. Null when the caller did not state it. */
  readonly taskValueBps: number | null;
  /** Quality of the agent's outcomes in bps, by the window's length in seconds. Null when no outcome was reported. */
  readonly quality: ReadonlyMap<number, number | null>;
};

/**
 * Returns the amount that a policy allows, for enforcement, preflight, estimate and advisory alike. The task's value moves the
 * limit between floor and ceiling. A missing bound equals the limit, and without bounds the limit does not move. Poor quality
 * then lowers the result, to no less than `qualityFloorBps` of it and never below a set floor.
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
