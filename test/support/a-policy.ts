import type { Policy } from '../../src/policy/policy.ts';

/** A cap of one agent on one task, as plain as can be. */
export const aPolicy = (more: Partial<Policy> = {}): Policy => ({
  id: 1,
  agentId: 1,
  kind: 'task',
  matchKey: 'task-1',
  matchKind: null,
  limitRaw: 1_000n,
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
  ...more,
});
