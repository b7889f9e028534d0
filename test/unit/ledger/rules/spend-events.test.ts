import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { BalanceState } from '../../../../src/ledger/rules/change.ts';
import type { Rules } from '../../../../src/ledger/rules/rules.ts';
import { crossedThresholds, utilizationBps } from '../../../../src/ledger/rules/spend-events.ts';
import { ACTIVE } from '../../../support/fakes/memory-ledger.ts';

const state = (creditedRaw: bigint, consumedRaw: bigint, heldRaw = 0n): BalanceState => ({
  version: 1n,
  rulesVersion: 1n,
  creditedRaw,
  consumedRaw,
  spendableRaw: creditedRaw - consumedRaw - heldRaw,
  heldRaw,
  walletRaw: 0n,
  promisedRaw: 0n,
  counters: [],
});

const watching = (...bps: number[]): Rules => ({
  ...ACTIVE,
  thresholds: bps.map((thresholdBps, i) => ({ id: i + 1, thresholdBps, webhookId: null })),
});

/** What is told of the way from one state to another: the state of each threshold and the event's name. */
const told = (rules: Rules, before: BalanceState, after: BalanceState) =>
  crossedThresholds(rules, 7, before, after).map((companion) =>
    companion.row === 'event'
      ? companion.event.name
      : companion.row === 'threshold.crossed' && `${companion.thresholdId} ${companion.state}`,
  );

describe('utilizationBps', () => {
  it('utilizationBps counts held amounts as spent', () => {
    expect(utilizationBps(state(10_000n, 187n, 67n))).toBe(254);
    expect(utilizationBps(state(10_000n, 0n, 10_000n))).toBe(10_000);
  });

  it('utilizationBps is the spent share of all credits, rounded down, and 0 before any credit', () => {
    expect(utilizationBps(state(0n, 0n))).toBe(0);
    expect(utilizationBps(state(3n, 2n))).toBe(6_666);
    expect(utilizationBps(state(10n ** 18n, 10n ** 18n))).toBe(10_000);
    expect(utilizationBps(state(10n ** 18n, 10n ** 18n - 1n))).toBe(9_999);
  });
});

describe('crossedThresholds', () => {
  it('crossedThresholds warns on the way up, reports the limit from 95 % on, and reports recovery', () => {
    const rules = watching(8_000, 9_499, 9_500, 10_000);
    expect(told(rules, state(10_000n, 7_999n), state(10_000n, 10_000n))).toEqual([
      '1 above',
      'credit.warning',
      '2 above',
      'credit.warning',
      '3 above',
      'credit.at_limit',
      '4 above',
      'credit.at_limit',
    ]);
    expect(told(rules, state(10_000n, 10_000n), state(20_000n, 10_000n))).toEqual([
      '1 below',
      'credit.recovered',
      '2 below',
      'credit.recovered',
      '3 below',
      'credit.recovered',
      '4 below',
      'credit.recovered',
    ]);
  });

  it('crossedThresholds reports a threshold that a hold crosses, and the recovery when the hold is given back', () => {
    const rules = watching(8_000);
    const before = state(10_000n, 7_900n);
    const held = state(10_000n, 7_900n, 200n);
    expect(told(rules, before, held)).toEqual(['1 above', 'credit.warning']);
    expect(told(rules, held, state(10_000n, 8_100n))).toEqual([]);
    expect(told(rules, held, state(10_000n, 7_950n))).toEqual(['1 below', 'credit.recovered']);
  });

  it('crossedThresholds counts a threshold as crossed at its exact value, and not one raw unit below', () => {
    const rules = watching(5_000);
    expect(told(rules, state(10_000n, 4_999n), state(10_000n, 5_000n))).toHaveLength(2);
    expect(told(rules, state(10_000n, 5_000n), state(10_000n, 5_001n))).toEqual([]);
    expect(told(rules, state(10_000n, 5_000n), state(10_000n, 4_999n))).toHaveLength(2);
  });

  it('crossedThresholds names the agent, the threshold, the used share and the remaining amount', () => {
    const [, event] = crossedThresholds(watching(8_000), 7, state(100n, 0n), state(100n, 81n));
    expect(event).toMatchObject({
      event: {
        name: 'credit.warning',
        accountId: 'acct_1',
        agentWallet: '0x01',
        payload: {
          agentId: 7,
          agentWalletAddress: '0x01',
          thresholdId: 1,
          thresholdBps: 8_000,
          utilizationBps: 8_100,
          available: '19',
        },
      },
    });
  });

  it('crossedThresholds reports each crossing once in any steps, upwards and downwards by turns', () => {
    const step = fc.record({
      credit: fc.bigInt({ min: 0n, max: 40n }),
      share: fc.integer({ min: 0, max: 4 }),
    });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 10_000 }), fc.array(step), (bps, steps) => {
        const rules = watching(bps);
        let now = state(10n, 0n);
        let above = false;
        for (const { credit, share } of steps) {
          const creditedRaw = now.creditedRaw + credit;
          const spent = ((creditedRaw - now.consumedRaw) * BigInt(share)) / 4n;
          const next = state(creditedRaw, now.consumedRaw + spent);
          const crossed = crossedThresholds(rules, 7, now, next);
          const is = utilizationBps(next) >= bps;
          expect(crossed).toHaveLength(is === above ? 0 : 2);
          if (is !== above) {
            expect(crossed[0]).toMatchObject({ state: is ? 'above' : 'below' });
          }
          above = is;
          now = next;
        }
      }),
    );
  });
});
