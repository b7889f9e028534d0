import { describe, expect, it } from 'vitest';
import { count, emptyCounter } from '../../../src/policy/counter.ts';
import { binds, capStateOf, worseBreach } from '../../../src/policy/evaluate.ts';
import { FACTS, policyOf } from '../../support/spending.ts';

const breach = (id: number, roomRaw: bigint, action: 'block' | 'suspend_agent' = 'block') => ({
  policy: policyOf({ id, action }),
  requiredRaw: 9n,
  spentRaw: 100n - roomRaw,
  capRaw: 100n,
});

describe('of two breaches the one that is reported', () => {
  it('worseBreach returns the breach with the least remaining amount', () => {
    expect(worseBreach(breach(1, 5n), breach(2, 4n)).policy.id).toBe(2);
  });
  it('worseBreach returns the older policy where two breaches remain equal', () => {
    expect(worseBreach(breach(2, 5n), breach(1, 5n)).policy.id).toBe(1);
    expect(worseBreach(undefined, breach(1, 5n)).policy.id).toBe(1);
  });
  it('worseBreach returns the policy that suspends its agent, whatever remains', () => {
    expect(worseBreach(breach(1, 0n), breach(2, 5n, 'suspend_agent')).policy.id).toBe(2);
    expect(worseBreach(breach(2, 5n, 'suspend_agent'), breach(1, 0n)).policy.id).toBe(2);
  });
});

describe('how a policy stands', () => {
  const reading = { taskValueBps: null, quality: new Map() };
  it('a policy’s spend is its settled and held amount, and what remains is never negative', () => {
    const counter = count(emptyCounter(1, 1), 0, { heldRaw: 30n, settledRaw: 90n });
    const policy = policyOf({ limitRaw: 100n });
    expect(capStateOf(policy, counter, 0, reading)).toEqual({
      policy,
      spentRaw: 120n,
      capRaw: 100n,
      remainingRaw: 0n,
      windowResetsAtMs: null,
    });
    const wide = policyOf({ limitRaw: 150n });
    expect(capStateOf(wide, counter, 0, reading).remainingRaw).toBe(30n);
  });

  it('a policy applies only to spending that it matches, and only while it is in effect', () => {
    const over = policyOf({ id: 2, expiresAtSec: 5 });
    const other = policyOf({ id: 3, kind: 'task', matchKey: 'x' });
    const bound = [policyOf(), over, other].filter((policy) => binds(policy, FACTS, 5));
    expect(bound.map(({ id }) => id)).toEqual([1]);
  });
});
