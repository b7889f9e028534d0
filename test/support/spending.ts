import type { Destination } from '../../src/ledger/rules/requests.ts';
import type { Rules, WindowPosition } from '../../src/ledger/rules/rules.ts';
import { windowPositionAt } from '../../src/ledger/rules/window-position.ts';
import type { Policy, SpendFacts } from '../../src/policy/policy.ts';
import { ACTIVE } from './fakes/memory-ledger.ts';

/** A destination that no spend control has a name for. */
export const DESTINATION: Destination = { host: null, payee: null };

/** What matches a policy of the kind `session` alone. */
export const FACTS: SpendFacts = { keyRootId: null, taskId: null, host: null, payee: null };

export const momentAt = (nowMs: number, rules: Rules = ACTIVE): WindowPosition =>
  windowPositionAt(rules, nowMs);

/** A cap of 100 on everything that agent 1 ever spends. */
export const policyOf = (change: Partial<Policy> = {}): Policy => ({
  id: 1,
  agentId: 1,
  kind: 'session',
  matchKey: null,
  matchKind: null,
  limitRaw: 100n,
  limitFloorRaw: null,
  limitCeilingRaw: null,
  window: { kind: 'session' },
  effectiveFromSec: null,
  effectiveUntilSec: null,
  expiresAtSec: null,
  action: 'block',
  qualityFloorBps: null,
  qualityWindowSeconds: null,
  reserves: false,
  label: null,
  ...change,
});
