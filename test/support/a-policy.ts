import type { Policy } from '../../src/policy/policy.ts';
import { policyOf } from './spending.ts';

/** A cap of 1000 a day on one task of agent 1. */
export const aPolicy = (more: Partial<Policy> = {}): Policy =>
  policyOf({
    kind: 'task',
    matchKey: 'task-1',
    limitRaw: 1_000n,
    window: { kind: 'rolling', seconds: 86_400 },
    ...more,
  });
