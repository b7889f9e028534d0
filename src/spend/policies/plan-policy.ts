import type { ValidationDetail } from '../../http/route/errors.ts';
import type { MatchKind, SpendWindow } from '../../policy/policy.ts';
import { normalTag } from '../attribution/tag.ts';
import { SPEND_LIMITS } from '../limits.ts';
import type { NewPolicy, PolicyRequest, RequestedKind } from './policy-request.ts';

export type Plan<T> =
  | { readonly kind: 'planned'; readonly policy: T }
  | { readonly kind: 'refused'; readonly details: readonly ValidationDetail[] };

/**
 * Plans a policy from a request whose fields were checked singly. Refused with details when fields contradict each
 * other.
 */
export function planPolicy(wanted: PolicyRequest, nowSec: number): Plan<NewPolicy> {
  const details: ValidationDetail[] = [];
  const wrong: Complain = (path, message) =>
    void details.push({ path: [path], message, code: 'custom' });
  const matchKind = matchKindOf(wanted, wrong);
  const policy: NewPolicy = {
    kind: wanted.kind,
    matchKey: matchKeyOf(wanted, matchKind, wrong),
    matchKind,
    limitRaw: wanted.limitRaw,
    limitFloorRaw: wanted.limitFloorRaw ?? null,
    limitCeilingRaw: wanted.limitCeilingRaw ?? null,
    window: windowOf(wanted, wrong),
    effectiveFromSec: wanted.effectiveFrom ?? null,
    effectiveUntilSec: wanted.effectiveUntil ?? null,
    expiresAtSec: expiryOf(wanted, nowSec, wrong),
    action: wanted.action ?? 'block',
    qualityFloorBps: wanted.qualityThrottleFloorBps ?? null,
    qualityWindowSeconds: wanted.qualityWindowSeconds ?? null,
    reserves: false,
    label: wanted.label ?? null,
  };
  if (wanted.effectiveUntil != null && wanted.effectiveUntil <= nowSec) {
    wrong('effectiveUntil', 'must be in the future');
  }
  return checkTogether(policy, details);
}

type Complain = (path: string, message: string) => void;

/** Checks the rules that a policy must satisfy at its creation and after every change. */
export function checkTogether<T extends NewPolicy>(
  policy: T,
  found: readonly ValidationDetail[],
): Plan<T> {
  const details = [...found];
  const wrong: Complain = (path, message) =>
    void details.push({ path: [path], message, code: 'custom' });
  const { limitRaw, limitFloorRaw, limitCeilingRaw, effectiveFromSec, effectiveUntilSec } = policy;
  if (limitFloorRaw !== null && limitFloorRaw > limitRaw) {
    wrong('limitFloorRaw', 'must not be above limitRaw');
  }
  if (limitCeilingRaw !== null && limitCeilingRaw < limitRaw) {
    wrong('limitCeilingRaw', 'must not be below limitRaw');
  }
  if (
    effectiveFromSec !== null &&
    effectiveUntilSec !== null &&
    effectiveUntilSec <= effectiveFromSec
  ) {
    wrong('effectiveUntil', 'must be after effectiveFrom');
  }
  if (policy.qualityWindowSeconds !== null && policy.qualityFloorBps === null) {
    wrong('qualityWindowSeconds', 'needs qualityThrottleFloorBps');
  }
  if (details.length > 0) return { kind: 'refused', details };
  const qualityWindowSeconds =
    policy.qualityFloorBps === null
      ? null
      : (policy.qualityWindowSeconds ?? SPEND_LIMITS.policy.qualityWindowSeconds.default);
  return { kind: 'planned', policy: { ...policy, qualityWindowSeconds } };
}

const MATCH_KINDS: Readonly<Record<RequestedKind, readonly MatchKind[]>> = {
  task: [],
  session: [],
  api: ['host_suffix', 'host_exact'],
  vendor: ['recipient'],
};

/** Returns the match kind of a request. Its default is the first match kind of the policy's kind. */
function matchKindOf({ kind, matchKind }: PolicyRequest, wrong: Complain): MatchKind | null {
  const known = MATCH_KINDS[kind];
  if (matchKind == null) return known[0] ?? null;
  if (known.includes(matchKind)) return matchKind;
  wrong('matchKind', known.length === 0 ? `is not for ${kind}` : `must be ${known.join(' or ')}`);
  return null;
}

/** Pattern of a host: labels separated by dots. A leading dot means a suffix. */
const HOST = /^\.?[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*$/;
const ADDRESS = /^0x[0-9a-f]{40}$/;

function matchKeyOf(
  { kind, matchKey }: PolicyRequest,
  matchKind: MatchKind | null,
  wrong: Complain,
): string | null {
  if (kind === 'session') {
    if (matchKey != null) wrong('matchKey', 'is not for session');
    return null;
  }
  if (matchKey == null) {
    wrong('matchKey', `is required for ${kind}`);
    return null;
  }
  if (kind === 'task') {
    const tag = normalTag(matchKey);
    if (tag === undefined) {
      wrong(
        'matchKey',
        `must be a task id of 1 to ${SPEND_LIMITS.tag.idChars} printable ASCII characters`,
      );
    }
    return tag ?? null;
  }
  const key = matchKey.toLowerCase();
  if (kind === 'vendor') {
    if (!ADDRESS.test(key)) wrong('matchKey', 'must be a wallet address, 0x and 40 hex digits');
  } else if (key.length > SPEND_LIMITS.policy.matchKeyChars || !HOST.test(key)) {
    wrong(
      'matchKey',
      'must be a host name without scheme, port and path, or a suffix such as .x.com',
    );
  } else if (matchKind === 'host_exact' && key.startsWith('.')) {
    wrong('matchKey', 'must not begin with a dot where the host is matched exactly');
  }
  return key;
}

function windowOf(wanted: PolicyRequest, wrong: Complain): SpendWindow {
  const { kind, windowSeconds, calendarUnit } = wanted;
  const windowKind = wanted.windowKind ?? 'rolling';
  // Clients send their default length of one day even with windows that have no length.
  if (windowKind === 'calendar' && windowSeconds != null) {
    wrong('windowSeconds', 'is not for a calendar window');
  }
  if (windowKind !== 'calendar' && calendarUnit != null) {
    wrong('calendarUnit', `is not for a ${windowKind} window`);
  }
  switch (windowKind) {
    case 'rolling':
      return {
        kind: 'rolling',
        seconds: windowSeconds ?? SPEND_LIMITS.policy.windowSeconds.default,
      };
    case 'calendar':
      if (calendarUnit == null) wrong('calendarUnit', 'must be day, week or month');
      return { kind: 'calendar', unit: calendarUnit ?? 'day' };
    case 'session':
      if (kind !== 'session') wrong('windowKind', `is not for ${kind}`);
      return { kind: 'session' };
    case 'once':
      return { kind: 'once' };
  }
}

function expiryOf(wanted: PolicyRequest, nowSec: number, wrong: Complain): number | null {
  const { expiresAt, windowKind } = wanted;
  if (expiresAt == null) return null;
  if (windowKind !== 'once') wrong('expiresAt', 'is only for a once window');
  else if (expiresAt <= nowSec) wrong('expiresAt', 'must be in the future');
  return expiresAt;
}
