import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { refusalOf, teamRefusalOf } from '../../../../src/ledger/rules/admit.ts';
import { withSpend } from '../../../../src/ledger/rules/project.ts';
import type { SpendReading } from '../../../../src/ledger/rules/spend-state.ts';
import { type PlannedCalls, planForecast } from '../../../../src/payments/quotes/plan-forecast.ts';
import type { SpendFacts } from '../../../../src/policy/policy.ts';
import { aPolicy } from '../../../support/a-policy.ts';
import { arbitraryReading } from '../../../support/snapshot-arbitrary.ts';
import { type StandingsWish, standingsWith } from '../../../support/standings.ts';

const PAYEE = `0x${'aa'.repeat(20)}`;

const calls = (
  index: number,
  priceRaw: bigint,
  change: Partial<SpendFacts> & { count?: number } = {},
) => {
  const { count = 1, ...facts } = change;
  const to = { keyRootId: null, taskId: null, host: 'api.acme.test', payee: PAYEE };
  return { index, priceRaw, count, facts: { ...to, ...facts } } as PlannedCalls;
};

const planned = (wanted: StandingsWish, ...plan: PlannedCalls[]) =>
  planForecast(standingsWith(wanted), null, plan);

const named = ({ breaches }: ReturnType<typeof planForecast>) =>
  breaches.map(({ itemIndex, policyId }) => [itemIndex, policyId]);

/** Makes the calls one by one as the ledger would decide them; answers the items of which one was refused. */
function refusedItems(reading: SpendReading, plan: readonly PlannedCalls[]): number[] {
  let now = reading;
  const refused = new Set<number>();
  for (const { index, priceRaw, count, facts } of plan) {
    for (let i = 0; i < count; i++) {
      const { rules, counters, teamCounters, position } = now;
      const demand = {
        keyId: 1,
        amountRaw: priceRaw,
        facts,
        taskValueBps: null,
        counters,
        // Whether there is money is asked apart.
        spendableRaw: 10n ** 15n,
      };
      const refusal =
        refusalOf(rules, demand, position) ?? teamRefusalOf(rules, demand, position, teamCounters);
      if (refusal === undefined) now = withSpend(now, facts, priceRaw);
      else refused.add(index);
    }
  }
  return [...refused];
}

describe('a forecast', () => {
  it('a forecast’s plan names exactly the items of which the ledger would refuse a call, in their order', () => {
    const arbitraryCalls = fc.record({
      priceRaw: fc.bigInt({ min: 1n, max: 40n }),
      count: fc.integer({ min: 1, max: 6 }),
      facts: fc.record({
        keyRootId: fc.constantFrom(null, 1, 2),
        taskId: fc.constantFrom(null, 't1', 't2'),
        host: fc.constantFrom('acme.test', 'api.acme.test', 'other.test'),
        payee: fc.constantFrom('0xaa', '0xbb'),
      }),
    });
    const seen = { fine: 0, refused: 0 };
    fc.assert(
      fc.property(
        arbitraryReading,
        fc.array(arbitraryCalls, { minLength: 1, maxLength: 6 }),
        (reading, drawn) => {
          const plan = drawn.map((each, index) => ({ index, ...each }));
          const { breaches } = planForecast(reading, null, plan);
          const expected = refusedItems(reading, plan);
          expect([...new Set(breaches.map(({ itemIndex }) => itemIndex))]).toEqual(expected);
          seen[expected.length === 0 ? 'fine' : 'refused']++;
        },
      ),
      { numRuns: 3_000 },
    );
    expect(Math.min(seen.fine, seen.refused), JSON.stringify(seen)).toBeGreaterThan(200);
  });

  it('a forecast’s plan adds up all items, refused ones too, and says whether the balance covers them', () => {
    const plan = [calls(0, 100n, { count: 4 }), calls(1, 200n), calls(2, 0n, { payee: null })];
    expect(planned({ spendableRaw: 600n }, ...plan)).toMatchObject({
      totalRaw: 600n,
      willExceedAvailable: false,
      breaches: [],
    });
    expect(planned({ spendableRaw: 599n }, ...plan)).toMatchObject({ willExceedAvailable: true });
    // What the wallet has promised already is not there, however much the balance says.
    const wallet = { spendableRaw: 600n, walletRaw: 700n, promisedRaw: 101n };
    expect(planned(wallet, ...plan)).toMatchObject({ willExceedAvailable: true });
  });

  it('a forecast’s plan lets only the task itself spend what is reserved for it', () => {
    const kept = aPolicy({
      matchKey: 't1',
      limitRaw: 400n,
      reserves: true,
      window: { kind: 'once' },
    });
    const wanted = { spendableRaw: 600n, own: [[kept, 0n]] } as const;
    expect(planned(wanted, calls(0, 200n), calls(1, 400n, { taskId: 't1' }))).toMatchObject({
      willExceedAvailable: false,
      breaches: [],
    });
    expect(planned(wanted, calls(0, 300n))).toMatchObject({ willExceedAvailable: true });
  });

  it('a forecast’s plan leaves what a refused call does not spend to later calls', () => {
    const cap = aPolicy({ id: 3, kind: 'api', matchKey: 'api.acme.test', matchKind: 'host_exact' });
    // 250 are left: two of five calls fit, and then one of fifty.
    const wanted = { spendableRaw: 10_000n, own: [[cap, 750n]] } as const;
    const plan = planned(wanted, calls(0, 100n, { count: 5 }), calls(1, 50n), calls(2, 1n));
    expect(named(plan)).toEqual([
      [0, 3],
      [2, 3],
    ]);
    expect(plan.breaches[0]).toEqual({
      itemIndex: 0,
      policyId: 3,
      kind: 'api',
      matchKey: 'api.acme.test',
      label: null,
      limitRaw: 1_000n,
      projectedSpentRaw: 1_250n,
      reason: 'policy_exceeded',
    });
  });

  it('a forecast’s plan names every cap that an item exceeds, of the agent and of its team', () => {
    const own = [
      [aPolicy({ id: 1, kind: 'vendor', matchKey: PAYEE, limitRaw: 10n }), 0n],
      [aPolicy({ id: 3, kind: 'session', matchKey: null, limitRaw: 20n }), 0n],
      [aPolicy({ id: 5, matchKey: 'another' }), 0n],
    ] as const;
    const team = [
      [aPolicy({ id: 2, agentId: null, kind: 'session', matchKey: null, limitRaw: 5n }), 0n],
    ] as const;
    expect(named(planned({ own, team }, calls(0, 4n), calls(1, 30n)))).toEqual([
      [1, 1],
      [1, 2],
      [1, 3],
    ]);
  });

  it('a forecast’s plan refuses even free calls under a cap that is used up', () => {
    const used = aPolicy({ id: 3, kind: 'session', matchKey: null });
    const free = calls(0, 0n, { payee: null, count: 2 });
    expect(named(planned({ own: [[used, 999n]] }, free))).toEqual([]);
    expect(named(planned({ own: [[used, 1_000n]] }, free))).toEqual([[0, 3]]);
  });

  it('a forecast’s plan names a host or payee that is missing on the agent’s allowlist', () => {
    const host = planned({ rules: { allowlistMode: 'host' } }, calls(0, 4n));
    expect(host.breaches).toEqual([
      {
        itemIndex: 0,
        policyId: null,
        kind: 'api',
        matchKey: 'api.acme.test',
        label: null,
        limitRaw: 0n,
        projectedSpentRaw: 4n,
        reason: 'host_not_allowlisted',
      },
    ]);
    const vendor = planned({ rules: { allowlistMode: 'vendor' } }, calls(0, 4n));
    expect(vendor.breaches).toMatchObject([{ matchKey: PAYEE, reason: 'vendor_not_allowlisted' }]);
  });
});
