import type { ValidationDetail } from '../../http/route/errors.ts';
import type { SpendWindow } from '../../policy/policy.ts';
import { checkTogether, type Plan } from './plan-policy.ts';
import type { PolicyEdit, StoredPolicy } from './policy-request.ts';

/**
 * Returns a stored policy with the given fields changed, or the problems. The fields must be consistent with each other
 * afterwards.
 */
export function planChange(
  before: StoredPolicy,
  edit: PolicyEdit,
  nowSec: number,
): Plan<StoredPolicy> {
  const details: ValidationDetail[] = [];
  const wrong = (path: string, message: string) =>
    void details.push({ path: [path], message, code: 'custom' });
  if (edit.effectiveUntil != null && edit.effectiveUntil <= nowSec) {
    wrong('effectiveUntil', 'must be in the future');
  }
  const after: StoredPolicy = {
    ...before,
    ...qualityAfter(before, edit),
    limitRaw: edit.limitRaw ?? before.limitRaw,
    limitFloorRaw: given(edit.limitFloorRaw, before.limitFloorRaw),
    limitCeilingRaw: given(edit.limitCeilingRaw, before.limitCeilingRaw),
    window: windowAfter(before.window, edit.windowSeconds, wrong),
    effectiveFromSec: given(edit.effectiveFrom, before.effectiveFromSec),
    effectiveUntilSec: given(edit.effectiveUntil, before.effectiveUntilSec),
    action: edit.action === undefined ? before.action : (edit.action ?? 'block'),
    label: given(edit.label, before.label),
  };
  return checkTogether(after, details);
}

/** Returns a field after an edit. Null clears the field; an omitted value keeps it. */
const given = <T>(value: T | null | undefined, before: T | null): T | null =>
  value === undefined ? before : value;

/** Returns the outcome fields after an edit. Without a quality floor, its window is removed, too. */
function qualityAfter(before: StoredPolicy, edit: PolicyEdit) {
  const qualityFloorBps = given(edit.qualityThrottleFloorBps, before.qualityFloorBps);
  const kept = qualityFloorBps === null ? null : before.qualityWindowSeconds;
  return { qualityFloorBps, qualityWindowSeconds: given(edit.qualityWindowSeconds, kept) };
}

function windowAfter(
  window: SpendWindow,
  seconds: number | null | undefined,
  wrong: (path: string, message: string) => void,
): SpendWindow {
  if (seconds === undefined) return window;
  if (window.kind !== 'rolling') {
    if (seconds !== null) wrong('windowSeconds', `is not for a ${window.kind} window`);
    return window;
  }
  if (seconds === null) {
    wrong('windowSeconds', 'cannot be cleared: a rolling window has a length');
    return window;
  }
  return { kind: 'rolling', seconds };
}

/**
 * Returns true when an edit changes which charges count, so that they must be counted again. A change of the allowed
 * amounts does not.
 */
export const isRecounted = (before: StoredPolicy, after: StoredPolicy): boolean =>
  before.effectiveFromSec !== after.effectiveFromSec ||
  before.effectiveUntilSec !== after.effectiveUntilSec ||
  (before.window.kind === 'rolling' &&
    after.window.kind === 'rolling' &&
    before.window.seconds !== after.window.seconds);
