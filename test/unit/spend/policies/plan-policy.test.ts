import { describe, expect, it } from 'vitest';
import { isRecounted, planChange } from '../../../../src/spend/policies/plan-change.ts';
import { planPolicy } from '../../../../src/spend/policies/plan-policy.ts';
import type {
  PolicyEdit,
  PolicyRequest,
  StoredPolicy,
} from '../../../../src/spend/policies/policy-request.ts';
import { isLiving, statusOf } from '../../../../src/spend/policies/policy-request.ts';
import { aPolicy } from '../../../support/a-policy.ts';

const NOW = 1_800_000_000;
const VENDOR = `0x${'Ab'.repeat(20)}`;

/** The policy, or the fields that are wrong. */
function plan(wanted: Partial<PolicyRequest>) {
  const planned = planPolicy({ kind: 'task', matchKey: 't', limitRaw: 10n, ...wanted }, NOW);
  return planned.kind === 'planned' ? planned.policy : planned.details.map(({ path }) => path[0]);
}

describe('a policy that is wished for', () => {
  it('a requested policy has by default a rolling day, the action block and its kind’s way of matching', () => {
    expect(plan({ matchKey: ' Task ONE ' })).toEqual({
      kind: 'task',
      matchKey: 'task one',
      matchKind: null,
      limitRaw: 10n,
      limitFloorRaw: null,
      limitCeilingRaw: null,
      window: { kind: 'rolling', seconds: 86_400 },
      effectiveFromSec: null,
      effectiveUntilSec: null,
      expiresAtSec: null,
      action: 'block',
      qualityFloorBps: null,
      qualityWindowSeconds: null,
      reserves: false,
      label: null,
    });
    expect(plan({ kind: 'api', matchKey: '.API.x.com' })).toMatchObject({
      matchKey: '.api.x.com',
      matchKind: 'host_suffix',
    });
    expect(plan({ kind: 'vendor', matchKey: VENDOR })).toMatchObject({
      matchKey: VENDOR.toLowerCase(),
      matchKind: 'recipient',
    });
    expect(plan({ kind: 'session', matchKey: null, windowKind: 'session' })).toMatchObject({
      matchKey: null,
      matchKind: null,
      window: { kind: 'session' },
    });
  });

  it('a requested policy is refused for a match key that its kind cannot have', () => {
    const bad = (kind: PolicyRequest['kind'], keys: readonly (string | null | undefined)[]) =>
      keys.filter((matchKey) => {
        const planned = plan({ kind, matchKey });
        return !(Array.isArray(planned) && planned[0] === 'matchKey');
      });
    expect(bad('task', [null, undefined, '', '  ', 'é', 'a\0b', 't'.repeat(129), 'a\nb'])).toEqual(
      [],
    );
    expect(
      bad('api', [
        null,
        'https://x.com',
        'x.com:443',
        'x.com/path',
        'x..com',
        '.',
        '..x.com',
        'x.com.',
        '-x.com',
        'x com',
        'é.com',
        'a\0b',
        `${'a'.repeat(254)}.b`,
        '*.x.com',
        '@x.com',
        '[::1]',
      ]),
    ).toEqual([]);
    expect(
      bad('vendor', [null, '0x', `0x${'a'.repeat(39)}`, `0x${'g'.repeat(40)}`, 'x.com']),
    ).toEqual([]);
    expect(plan({ kind: 'session', matchKey: 'x', windowKind: 'session' })).toEqual(['matchKey']);
    for (const matchKey of ['x.com', 'openai', '127.0.0.1', 'a_b.x-y.com', 'a'.repeat(255)]) {
      expect(plan({ kind: 'api', matchKey })).toMatchObject({ matchKey });
    }
  });

  it('a requested policy is refused for a way of matching that its kind does not have', () => {
    expect(plan({ matchKind: 'host_exact' })).toEqual(['matchKind']);
    expect(plan({ kind: 'api', matchKey: 'x.com', matchKind: 'recipient' })).toEqual(['matchKind']);
    expect(plan({ kind: 'vendor', matchKey: VENDOR, matchKind: 'host_exact' })).toEqual([
      'matchKind',
    ]);
    expect(plan({ kind: 'api', matchKey: '.x.com', matchKind: 'host_exact' })).toEqual([
      'matchKey',
    ]);
    expect(plan({ kind: 'api', matchKey: 'x.com', matchKind: 'host_exact' })).toMatchObject({
      matchKind: 'host_exact',
    });
  });

  it('a requested policy has one window kind and only that kind’s fields', () => {
    expect(plan({ windowSeconds: 60 })).toMatchObject({ window: { kind: 'rolling', seconds: 60 } });
    expect(plan({ windowKind: 'calendar', calendarUnit: 'week' })).toMatchObject({
      window: { kind: 'calendar', unit: 'week' },
    });
    expect(plan({ windowKind: 'once', expiresAt: NOW + 1 })).toMatchObject({
      window: { kind: 'once' },
      expiresAtSec: NOW + 1,
    });
    expect(plan({ windowKind: 'once' })).toMatchObject({ expiresAtSec: null });
    expect(plan({ windowKind: 'calendar' })).toEqual(['calendarUnit']);
    expect(plan({ calendarUnit: 'day' })).toEqual(['calendarUnit']);
    expect(plan({ windowKind: 'calendar', calendarUnit: 'day', windowSeconds: 60 })).toEqual([
      'windowSeconds',
    ]);
    // Clients send their default length along.
    expect(plan({ windowKind: 'once', windowSeconds: 60 })).toMatchObject({
      window: { kind: 'once' },
    });
    expect(plan({ windowKind: 'session' })).toEqual(['windowKind']);
    expect(plan({ expiresAt: NOW + 1 })).toEqual(['expiresAt']);
    expect(plan({ windowKind: 'once', expiresAt: NOW })).toEqual(['expiresAt']);
  });

  it('a requested policy has its floor and ceiling around its limit and an end in the future', () => {
    expect(plan({ limitFloorRaw: 10n, limitCeilingRaw: 10n })).toMatchObject({
      limitFloorRaw: 10n,
    });
    expect(plan({ limitFloorRaw: 11n, limitCeilingRaw: 9n })).toEqual([
      'limitFloorRaw',
      'limitCeilingRaw',
    ]);
    expect(plan({ effectiveFrom: 1, effectiveUntil: NOW + 1 })).toMatchObject({
      effectiveFromSec: 1,
    });
    expect(plan({ effectiveUntil: NOW })).toEqual(['effectiveUntil']);
    expect(plan({ effectiveFrom: NOW + 5, effectiveUntil: NOW + 5 })).toEqual(['effectiveUntil']);
    expect(plan({ qualityThrottleFloorBps: 0 })).toMatchObject({ qualityWindowSeconds: 86_400 });
    expect(plan({ qualityWindowSeconds: 60 })).toEqual(['qualityWindowSeconds']);
  });
});

const stored = (more: Partial<StoredPolicy> = {}): StoredPolicy => ({
  ...aPolicy(),
  startsAtMs: 0,
  createdAt: new Date(0),
  revokedAt: null,
  ...more,
});

function change(edit: PolicyEdit, before: Partial<StoredPolicy> = {}) {
  const planned = planChange(stored(before), edit, NOW);
  return planned.kind === 'planned' ? planned.policy : planned.details.map(({ path }) => path[0]);
}

describe('a policy that is changed', () => {
  it('an edited policy keeps omitted fields and clears null ones', () => {
    const before = stored({
      limitFloorRaw: 1n,
      limitCeilingRaw: 2_000n,
      effectiveFromSec: 1,
      label: 'x',
      effectiveUntilSec: NOW + 9,
      action: 'suspend_agent',
      qualityFloorBps: 5,
      qualityWindowSeconds: 60,
    });
    expect(planChange(before, {}, NOW)).toEqual({ kind: 'planned', policy: before });
    const cleared: PolicyEdit = {
      limitFloorRaw: null,
      limitCeilingRaw: null,
      effectiveFrom: null,
      label: null,
      effectiveUntil: null,
      action: null,
      qualityThrottleFloorBps: null,
    };
    expect(planChange(before, cleared, NOW)).toEqual({ kind: 'planned', policy: stored() });
  });

  it('an edited policy is validated as a whole, not field by field', () => {
    expect(change({ limitRaw: 1n }, { limitFloorRaw: 2n })).toEqual(['limitFloorRaw']);
    expect(change({ limitRaw: 1n, limitFloorRaw: 1n }, { limitFloorRaw: 2n })).toMatchObject({
      limitRaw: 1n,
    });
    expect(change({ limitCeilingRaw: 999n })).toEqual(['limitCeilingRaw']);
    expect(change({ effectiveFrom: NOW + 9 }, { effectiveUntilSec: NOW + 9 })).toEqual([
      'effectiveUntil',
    ]);
    expect(change({ effectiveUntil: NOW })).toEqual(['effectiveUntil']);
    expect(change({ qualityWindowSeconds: 60 })).toEqual(['qualityWindowSeconds']);
    expect(
      change({ qualityWindowSeconds: null }, { qualityFloorBps: 1, qualityWindowSeconds: 60 }),
    ).toMatchObject({ qualityWindowSeconds: 86_400 });
  });

  it('an edited policy may have a window length only where its window is rolling', () => {
    expect(change({ windowSeconds: 60 })).toMatchObject({
      window: { kind: 'rolling', seconds: 60 },
    });
    expect(change({ windowSeconds: null })).toEqual(['windowSeconds']);
    expect(change({ windowSeconds: 60 }, { window: { kind: 'once' } })).toEqual(['windowSeconds']);
    expect(change({ windowSeconds: null }, { window: { kind: 'once' } })).toMatchObject({
      window: { kind: 'once' },
    });
  });

  it('an edited policy with a past end stays expired, and a new end revives it', () => {
    const over = { effectiveUntilSec: NOW - 1 };
    expect(statusOf(stored(over), NOW)).toBe('expired');
    expect(change({ label: 'x' }, over)).toMatchObject({ label: 'x', ...over });
    const revived = change({ effectiveUntil: NOW + 1 }, over) as StoredPolicy;
    expect(isLiving(revived, NOW)).toBe(true);
    expect(statusOf(stored({ revokedAt: new Date(0) }), NOW)).toBe('revoked');
    expect(statusOf(stored({ expiresAtSec: NOW }), NOW)).toBe('expired');
  });

  it('an edited policy’s counter restarts when its window or times change, and not for amounts', () => {
    const recounted = (edit: PolicyEdit) => isRecounted(stored(), change(edit) as StoredPolicy);
    expect(
      [{ windowSeconds: 60 }, { effectiveFrom: 1 }, { effectiveUntil: NOW + 1 }].map(recounted),
    ).toEqual([true, true, true]);
    expect([{ limitRaw: 1n }, { windowSeconds: 86_400 }, { label: 'x' }].map(recounted)).toEqual([
      false,
      false,
      false,
    ]);
  });
});
