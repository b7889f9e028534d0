import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { capStateOf, tightestOf } from '../../../src/policy/evaluate.ts';
import type { Policy, SpendWindow } from '../../../src/policy/policy.ts';
import { bucketAt } from '../../../src/policy/window.ts';
import { counterOf, NOW_MS } from '../../support/snapshot-arbitrary.ts';
import { policyOf } from '../../support/spending.ts';

const READING = { taskValueBps: null, quality: new Map() };
const DAY_MS = 86_400_000;

const standingAt = (policy: Policy, counter: ReturnType<typeof counterOf>, atMs: number) =>
  capStateOf(policy, counter, bucketAt(policy, atMs), READING);

const spent = (agoMs: number, settledRaw: bigint, heldRaw = 0n) => ({ agoMs, settledRaw, heldRaw });

describe('standingOf', () => {
  it('standingOf counts settled and held amounts and never lets a negative amount remain', () => {
    const policy = policyOf({ limitRaw: 100n });
    const some = counterOf(policy, [spent(5, 30n, 12n)]);
    expect(standingAt(policy, some, NOW_MS)).toMatchObject({
      spentRaw: 42n,
      capRaw: 100n,
      remainingRaw: 58n,
    });
    const lowered = policyOf({ limitRaw: 40n });
    expect(standingAt(lowered, some, NOW_MS)).toMatchObject({ spentRaw: 42n, remainingRaw: 0n });
  });

  it('standingOf names the instant at which a rolling window leaves more by time alone', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(60, 3_600, 86_400, 31_536_000),
        fc.array(
          fc.record({
            share: fc.double({ min: 0, max: 1.1, noNaN: true }),
            settledRaw: fc.bigInt({ min: 0n, max: 9n }),
          }),
          { maxLength: 6 },
        ),
        (seconds, works) => {
          const policy = policyOf({ window: { kind: 'rolling', seconds } });
          const counter = counterOf(
            policy,
            works.map(({ share, settledRaw }) =>
              spent(Math.floor(share * seconds * 1_000), settledRaw, 1n),
            ),
          );
          const now = standingAt(policy, counter, NOW_MS);
          const settledRaw = now.spentRaw - BigInt(works.length);
          const at = now.windowResetsAtMs;
          if (works.length === 0) {
            expect(at).toBeNull();
            return;
          }
          if (settledRaw === 0n) {
            expect(at).toBeGreaterThanOrEqual(NOW_MS + seconds * 1_000);
            return;
          }
          expect(at).toBeGreaterThan(NOW_MS);
          const before = standingAt(policy, counter, (at ?? 0) - 1);
          const after = standingAt(policy, counter, at ?? 0);
          expect(before.spentRaw).toBe(now.spentRaw);
          expect(after.spentRaw).toBeLessThan(now.spentRaw);
        },
      ),
    );
  });

  it.each([
    [{ kind: 'calendar', unit: 'day' }, '2026-11-22T00:00:00.000Z'],
    [{ kind: 'calendar', unit: 'week' }, '2026-11-23T00:00:00.000Z'],
    [{ kind: 'calendar', unit: 'month' }, '2026-12-01T00:00:00.000Z'],
    [{ kind: 'once' }, null],
    [{ kind: 'session' }, null],
  ] as const satisfies readonly (readonly [SpendWindow, string | null])[])(
    'standingOf names the end of the current period, if there is one: %j',
    (window, expected) => {
      const policy = policyOf({ window });
      const counter = counterOf(policy, [spent(0, 3n)]);
      const at = standingAt(policy, counter, NOW_MS).windowResetsAtMs;
      expect(at === null ? null : new Date(at).toISOString()).toBe(expected);
    },
  );

  it('standingOf names the expiry of a once window, and the end of a calendar period without any spending', () => {
    const expiresAtSec = Math.floor(NOW_MS / 1_000) + 60;
    const once = policyOf({ window: { kind: 'once' }, expiresAtSec });
    const counter = counterOf(once, []);
    expect(standingAt(once, counter, NOW_MS).windowResetsAtMs).toBe(expiresAtSec * 1_000);
    const daily = policyOf({ window: { kind: 'calendar', unit: 'day' } });
    const empty = counterOf(daily, []);
    expect(standingAt(daily, empty, NOW_MS).windowResetsAtMs).toBe(
      (Math.floor(NOW_MS / DAY_MS) + 1) * DAY_MS,
    );
  });
});

describe('tightestOf', () => {
  it('tightestOf returns the cap with the least remaining amount, the first of equals, and undefined for none', () => {
    const spendState = [5n, 3n, 3n].map((remainingRaw, i) => ({
      ...standingAt(policyOf({ id: i }), counterOf(policyOf({ id: i }), []), NOW_MS),
      remainingRaw,
    }));
    expect(tightestOf(spendState)?.policy.id).toBe(1);
    expect(tightestOf([])).toBeUndefined();
  });
});
