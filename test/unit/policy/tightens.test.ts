import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AllowlistMode } from '../../../src/policy/allowlist.ts';
import { effectiveCapRaw } from '../../../src/policy/effective-cap.ts';
import type { Policy } from '../../../src/policy/policy.ts';
import { gatesOf, tightens } from '../../../src/policy/tightens.ts';
import { aPolicy } from '../../support/a-policy.ts';

const MODES: readonly AllowlistMode[] = ['off', 'host', 'vendor', 'both'];

const edit = (
  change: Partial<Policy>,
  before: Partial<Policy> = {},
  mode: AllowlistMode = 'off',
): boolean =>
  tightens({
    kind: 'edit',
    before: aPolicy(before),
    after: aPolicy({ ...before, ...change }),
    mode,
  });

describe('a cap that is made', () => {
  it('creating a cap tightens, unless its kind is an allowlist entry in the current mode', () => {
    const made = (policyKind: 'task' | 'api' | 'vendor') =>
      MODES.filter((mode) => tightens({ kind: 'create', policyKind, mode }));
    expect(made('task')).toEqual(MODES);
    expect(made('api')).toEqual(['off', 'vendor']);
    expect(made('vendor')).toEqual(['off', 'host']);
  });
});

describe('a cap that ends or begins anew', () => {
  it('revoking or resetting a cap loosens', () => {
    expect(tightens({ kind: 'revoke' })).toBe(false);
    expect(tightens({ kind: 'reset' })).toBe(false);
  });
});

describe('a cap that is changed', () => {
  const BOUNDED = { limitFloorRaw: 500n, limitCeilingRaw: 2_000n };
  const TIMED = { effectiveFromSec: 100, effectiveUntilSec: 200 };
  const THROTTLED = { qualityFloorBps: 5_000, qualityWindowSeconds: 3_600 };

  const TIGHTER: readonly (readonly [string, Partial<Policy>, Partial<Policy>?])[] = [
    ['nothing', {}],
    ['its label', { label: 'x' }],
    ['a lower limit', { limitRaw: 999n }],
    ['a lower floor', { limitFloorRaw: 499n }, BOUNDED],
    ['a lower ceiling', { limitCeilingRaw: 1_999n }, BOUNDED],
    ['no ceiling', { limitCeilingRaw: null }, BOUNDED],
    ['a floor where the limit was one', { limitFloorRaw: 500n }],
    ['a longer window', { window: { kind: 'rolling', seconds: 90_000 } }],
    ['suspending', { action: 'suspend_agent' }],
    ['an earlier start', { effectiveFromSec: 99 }, TIMED],
    ['a start at any time', { effectiveFromSec: null }, TIMED],
    ['a later end', { effectiveUntilSec: 201 }, TIMED],
    ['no end', { effectiveUntilSec: null }, TIMED],
    ['a lower quality floor', { qualityFloorBps: 0 }, THROTTLED],
    ['a quality floor at all', THROTTLED],
  ];
  const LOOSER: typeof TIGHTER = [
    ['a higher limit', { limitRaw: 1_001n }],
    ['a higher floor', { limitFloorRaw: 501n }, BOUNDED],
    ['no floor', { limitFloorRaw: null }, BOUNDED],
    ['a higher ceiling', { limitCeilingRaw: 2_001n }, BOUNDED],
    ['a ceiling where the limit was one', { limitCeilingRaw: 2_000n }],
    ['a shorter window', { window: { kind: 'rolling', seconds: 80_000 } }],
    [
      'a shorter window and a lower limit',
      { limitRaw: 1n, window: { kind: 'rolling', seconds: 60 } },
    ],
    ['blocking in place of suspending', { action: 'block' }, { action: 'suspend_agent' }],
    ['a later start', { effectiveFromSec: 101 }, TIMED],
    ['a start where it had begun', { effectiveFromSec: 1 }],
    ['an earlier end', { effectiveUntilSec: 199 }, TIMED],
    ['an end where there was none', { effectiveUntilSec: 200 }],
    ['a higher quality floor', { qualityFloorBps: 5_001 }, THROTTLED],
    ['no quality floor', { qualityFloorBps: null, qualityWindowSeconds: null }, THROTTLED],
    ['another time of outcomes', { qualityWindowSeconds: 7_200 }, THROTTLED],
    ['a floor that stops the throttle', { limitFloorRaw: 500n }, THROTTLED],
  ];
  for (const [what, change, before] of TIGHTER) {
    it(`an edit of a cap tightens by ${what}`, () => expect(edit(change, before)).toBe(true));
  }
  for (const [what, change, before] of LOOSER) {
    it(`an edit of a cap loosens by ${what}`, () => expect(edit(change, before)).toBe(false));
  }

  it('moving the time of a cap that is an allowlist entry does not tighten', () => {
    const entry = { kind: 'api', matchKey: 'x.com', ...TIMED } as const;
    expect(edit({ effectiveUntilSec: 300 }, entry)).toBe(true);
    expect(edit({ effectiveUntilSec: 300 }, entry, 'host')).toBe(false);
    expect(edit({ effectiveFromSec: 50 }, entry, 'both')).toBe(false);
    expect(edit({ effectiveFromSec: 50 }, entry, 'vendor')).toBe(true);
    expect(edit({ limitRaw: 1n }, entry, 'host')).toBe(true);
  });

  it('lowering or ending a cap that reserves money for its task does not tighten', () => {
    expect(edit({ limitRaw: 1n }, { reserves: true })).toBe(false);
    expect(edit({ effectiveUntilSec: 1 }, { reserves: true })).toBe(false);
    expect(edit({ label: 'x' }, { reserves: true })).toBe(true);
  });
});

describe('no change that tightens', () => {
  const bounded = fc
    .record({
      limitRaw: fc.bigInt({ min: 1n, max: 20n }),
      floor: fc.option(fc.bigInt({ min: 0n, max: 19n })),
      over: fc.option(fc.bigInt({ min: 0n, max: 20n })),
      qualityFloorBps: fc.option(fc.integer({ min: 0, max: 10_000 })),
    })
    .map(({ limitRaw, floor, over, qualityFloorBps }) =>
      aPolicy({
        limitRaw,
        limitFloorRaw: floor === null ? null : floor % limitRaw === 0n ? 1n : floor % limitRaw,
        limitCeilingRaw: over === null ? null : limitRaw + over,
        qualityFloorBps,
        qualityWindowSeconds: qualityFloorBps === null ? null : 3_600,
      }),
    );

  it('an edit of a policy that tightens never raises the effective cap, for any task value and quality', () => {
    let tighter = 0;
    fc.assert(
      fc.property(
        bounded,
        bounded,
        fc.option(fc.integer({ min: 1, max: 100_000 })),
        fc.option(fc.integer({ min: 0, max: 10_000 })),
        (before, after, taskValueBps, quality) => {
          if (!tightens({ kind: 'edit', before, after, mode: 'off' })) return;
          tighter++;
          const reading = { taskValueBps, quality: new Map([[3_600, quality]]) };
          expect(effectiveCapRaw(after, reading) <= effectiveCapRaw(before, reading)).toBe(true);
        },
      ),
      { numRuns: 20_000 },
    );
    expect(tighter).toBeGreaterThan(500);
  });
});

describe('a limit of the session', () => {
  it('a session limit tightens up to the remaining amount, or where there was none', () => {
    const set = (remainingRaw: bigint | null, limitRaw: bigint) =>
      tightens({ kind: 'session_limit', remainingRaw, limitRaw });
    expect([set(null, 1_000n), set(5n, 5n), set(5n, 4n)]).toEqual([true, true, true]);
    expect([set(5n, 6n), set(0n, 1n)]).toEqual([false, false]);
  });
});

describe('an allowlist mode', () => {
  it('a change of the allowlist mode tightens where no gate is opened', () => {
    const table = MODES.map((before) =>
      MODES.map((after) => tightens({ kind: 'mode', before, after })),
    );
    expect(table).toEqual([
      [true, true, true, true],
      [false, true, false, true],
      [false, false, true, true],
      [false, false, false, true],
    ]);
    expect(MODES.map(gatesOf)).toEqual([[], ['api'], ['vendor'], ['api', 'vendor']]);
  });
});
