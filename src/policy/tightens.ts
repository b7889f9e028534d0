import type { AllowlistMode } from './allowlist.ts';
import type { Policy, PolicyKind } from './policy.ts';

/** A change of one agent's controls, with the data that decides whether it allows anything that was refused before. */
export type ControlChange =
  | { readonly kind: 'create'; readonly policyKind: PolicyKind; readonly mode: AllowlistMode }
  | {
      readonly kind: 'edit';
      readonly before: Policy;
      readonly after: Policy;
      readonly mode: AllowlistMode;
    }
  | { readonly kind: 'revoke' }
  | { readonly kind: 'reset' }
  | {
      readonly kind: 'session_limit';
      /** Remaining amount of the present session limit. Null when there is no session limit. */
      readonly remainingRaw: bigint | null;
      readonly limitRaw: bigint;
    }
  | { readonly kind: 'mode'; readonly before: AllowlistMode; readonly after: AllowlistMode };

/**
 * Returns true when a change allows nothing new, now or later. The tighten-only lock admits only such changes. An
 * uncertain change returns false.
 */
export function tightens(change: ControlChange): boolean {
  switch (change.kind) {
    case 'create':
      // An additional cap loosens no other cap, except when the policy is a permission.
      return !isPermission(change.policyKind, change.mode);
    case 'edit':
      return editTightens(change.before, change.after, change.mode);
    case 'revoke':
    case 'reset':
      return false;
    case 'session_limit':
      // Setting a session limit restarts the session, so that the whole new limit can be spent.
      return change.remainingRaw === null || change.limitRaw <= change.remainingRaw;
    case 'mode':
      return gatesOf(change.before).every((gate) => gatesOf(change.after).includes(gate));
  }
}

/** Returns the kinds of policy that are permissions in this mode. */
export function gatesOf(mode: AllowlistMode): readonly ('api' | 'vendor')[] {
  switch (mode) {
    case 'off':
      return [];
    case 'host':
      return ['api'];
    case 'vendor':
      return ['vendor'];
    case 'both':
      return ['api', 'vendor'];
  }
}

const isPermission = (kind: PolicyKind, mode: AllowlistMode): boolean =>
  gatesOf(mode).some((gate) => gate === kind);

function editTightens(before: Policy, after: Policy, mode: AllowlistMode): boolean {
  if (before.action === 'suspend_agent' && after.action === 'block') return false;
  return (
    periodTightens(before, after, isPermission(before.kind, mode)) &&
    amountTightens(before, after) &&
    qualityTightens(before, after) &&
    windowTightens(before, after)
  );
}

/**
 * Returns true when an edit of the period allows nothing new. A cap must bind whenever it did before; a permission or a reserve
 * must keep its period.
 */
function periodTightens(before: Policy, after: Policy, isPermission: boolean): boolean {
  const from = [before, after].map((policy) => policy.effectiveFromSec ?? Number.NEGATIVE_INFINITY);
  const until = [before, after].map(
    (policy) => policy.effectiveUntilSec ?? Number.POSITIVE_INFINITY,
  );
  const [fromBefore = 0, fromAfter = 0] = from;
  const [untilBefore = 0, untilAfter = 0] = until;
  if (isPermission || before.reserves) {
    return fromAfter === fromBefore && untilAfter === untilBefore;
  }
  return fromAfter <= fromBefore && untilAfter >= untilBefore;
}

/**
 * Returns true when an edit of the amounts allows nothing new. The task's value moves the cap between floor and ceiling, so
 * none of limit, floor and ceiling may rise.
 */
function amountTightens(before: Policy, after: Policy): boolean {
  // Money reserved for a task becomes free for other tasks as soon as less of it is reserved.
  if (before.reserves && after.limitRaw !== before.limitRaw) return false;
  const ends = ({ limitRaw, limitFloorRaw, limitCeilingRaw }: Policy) => ({
    limitRaw,
    floorRaw: limitFloorRaw ?? limitRaw,
    ceilingRaw: limitCeilingRaw ?? limitRaw,
  });
  const [was, is] = [ends(before), ends(after)];
  return (
    is.limitRaw <= was.limitRaw && is.floorRaw <= was.floorRaw && is.ceilingRaw <= was.ceilingRaw
  );
}

/** Returns true when poor outcomes tighten the cap at least as much as before the edit. */
function qualityTightens(before: Policy, after: Policy): boolean {
  if (before.qualityFloorBps === null) return true;
  if (after.qualityFloorBps === null || after.qualityFloorBps > before.qualityFloorBps) {
    return false;
  }
  // Over another window the outcomes may have been better.
  if (after.qualityWindowSeconds !== before.qualityWindowSeconds) return false;
  // A floor limits how far poor outcomes tighten the cap, so that it must not rise.
  return (after.limitFloorRaw ?? 0n) <= (before.limitFloorRaw ?? 0n);
}

/**
 * Returns true when the new window is at least as long, because more spending counts in a longer window. The kind of a window
 * never changes.
 */
function windowTightens(before: Policy, after: Policy): boolean {
  if (before.window.kind !== 'rolling' || after.window.kind !== 'rolling') return true;
  return after.window.seconds >= before.window.seconds;
}
