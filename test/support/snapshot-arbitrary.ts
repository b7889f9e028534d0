import fc from 'fast-check';
import { readAt, type Snapshot, type SpendReading } from '../../src/ledger/rules/spend-state.ts';
import { type Counter, count, emptyCounter } from '../../src/policy/counter.ts';
import type { Policy, SpendFacts } from '../../src/policy/policy.ts';
import { bucketAt, bucketsOf } from '../../src/policy/window.ts';
import { ACTIVE } from './fakes/memory-ledger.ts';
import { arbitraryCap } from './policy-arbitrary.ts';

/** A Saturday in November, a little after noon. */
export const NOW_MS = Date.UTC(2026, 10, 21, 12, 3, 4, 567);

export const arbitraryFacts: fc.Arbitrary<SpendFacts> = fc.record({
  keyRootId: fc.constantFrom(null, 1, 2),
  taskId: fc.constantFrom(null, 't1', 't2', 't3'),
  host: fc.constantFrom(null, 'acme.test', 'api.acme.test', 'other.test'),
  payee: fc.constantFrom(null, '0xaa', '0xbb'),
});

type Spent = { readonly agoMs: number; readonly heldRaw: bigint; readonly settledRaw: bigint };

const arbitrarySpent: fc.Arbitrary<Spent[]> = fc.array(
  fc.record({
    agoMs: fc.oneof(
      fc.integer({ min: 0, max: 120_000 }),
      fc.integer({ min: 0, max: 40 * 86_400_000 }),
    ),
    heldRaw: fc.bigInt({ min: 0n, max: 9n }),
    settledRaw: fc.bigInt({ min: 0n, max: 30n }),
  }),
  { maxLength: 4 },
);

/** What a policy has counted, each at its time. */
export function counterOf(policy: Policy, spent: readonly Spent[]): Counter {
  const oldestFirst = [...spent].sort((a, b) => b.agoMs - a.agoMs);
  return oldestFirst.reduce(
    (counter, by) => count(counter, bucketAt(policy, NOW_MS - by.agoMs), by),
    emptyCounter(policy.id, bucketsOf(policy.window)),
  );
}

const arbitraryCounted = fc.record({
  cap: arbitraryCap(Math.floor(NOW_MS / 1_000) - 60),
  spent: arbitrarySpent,
  suspends: fc.boolean(),
});

/** An agent with policies of its own and of its team, as they read at `NOW_MS`. */
export const arbitraryReading: fc.Arbitrary<SpendReading> = fc
  .record({
    own: fc.array(arbitraryCounted, { maxLength: 4 }),
    team: fc.array(arbitraryCounted, { maxLength: 3 }),
    spendableRaw: fc.bigInt({ min: 0n, max: 150n }),
    mode: fc.constantFrom('off', 'off', 'off', 'off', 'host', 'vendor', 'both'),
  })
  .map(({ own, team, spendableRaw, mode }) => {
    const policies = [...own, ...team].map(({ cap, suspends }, i): Policy => {
      const isOwn = i < own.length;
      const action = suspends ? 'suspend_agent' : 'block';
      // Ids of both kinds mingle.
      const id = isOwn ? 2 * i + 1 : 2 * (i - own.length) + 2;
      return { ...cap, id, agentId: isOwn ? 7 : null, action, reserves: isOwn && cap.reserves };
    });
    const counters = [...own, ...team].map(({ spent }, i) =>
      counterOf(policies[i] as Policy, spent),
    );
    const snapshot: Snapshot = {
      state: {
        version: 1n,
        rulesVersion: 1n,
        spendableRaw,
        heldRaw: 0n,
        creditedRaw: spendableRaw,
        consumedRaw: 0n,
        walletRaw: 0n,
        promisedRaw: 0n,
        counters: counters.slice(0, own.length),
      },
      rules: {
        ...ACTIVE,
        allowlistMode: mode,
        policies: policies.slice(0, own.length),
        teamPolicies: policies.slice(own.length),
      },
    };
    const shared = new Map(counters.slice(own.length).map((c) => [c.policyId, c]));
    return readAt(snapshot, NOW_MS, shared);
  });
