import fc from 'fast-check';
import { numberArray } from '../../src/platform/postgres/pg-array.ts';
import type { Sql } from '../../src/platform/postgres/sql.ts';
import type { Policy, SpendWindow } from '../../src/policy/policy.ts';
import { bucketsOf } from '../../src/policy/window.ts';
import { policyOf } from './spending.ts';

/** A policy without its place: whose it is, and its id. */
export type Cap = Omit<Policy, 'id' | 'agentId'>;

type Match = Pick<Policy, 'kind' | 'matchKey' | 'matchKind'>;

const EVERYTHING: Match = { kind: 'session', matchKey: null, matchKind: null };
const MATCHES: readonly Match[] = [
  { kind: 'task', matchKey: 't1', matchKind: null },
  { kind: 'task', matchKey: 't2', matchKind: null },
  { kind: 'key', matchKey: '1', matchKind: null },
  { kind: 'vendor', matchKey: '0xaa', matchKind: 'recipient' },
  { kind: 'api', matchKey: 'acme.test', matchKind: 'host_exact' },
  { kind: 'api', matchKey: '.acme.test', matchKind: 'host_suffix' },
];

const WINDOWS: readonly SpendWindow[] = [
  { kind: 'session' },
  { kind: 'once' },
  { kind: 'rolling', seconds: 60 },
  { kind: 'rolling', seconds: 86_400 },
  { kind: 'calendar', unit: 'day' },
  { kind: 'calendar', unit: 'month' },
];

/** Small caps, so that being refused is as usual as being let through. Some take effect, or end, soon. */
export const arbitraryCap = (fromSec: number): fc.Arbitrary<Cap> => {
  const soon = fc.constantFrom(null, null, null, fromSec + 30, fromSec + 86_400);
  const limitRaw = fc.bigInt({ min: 1n, max: 100n });
  const limit = fc.oneof(fc.constant(null), fc.constant(null), limitRaw);
  return fc
    .record({
      match: fc.oneof(fc.constant(EVERYTHING), fc.constantFrom(...MATCHES)),
      window: fc.constantFrom(...WINDOWS),
      limits: fc.record({ limitRaw, limitFloorRaw: limit, limitCeilingRaw: limit }),
      effectiveFromSec: soon,
      expiresAtSec: soon,
      reserves: fc.boolean(),
      action: fc.constantFrom('block' as const, 'block' as const, 'suspend_agent' as const),
    })
    .map(({ match, window, limits, reserves, ...others }) => {
      const { id: _, agentId: __, ...rest } = policyOf({ ...match, ...limits, ...others, window });
      return { ...rest, reserves: reserves && match.kind === 'task' };
    });
};

/** Writes a policy that has counted nothing yet; `agentId` null is one of the whole team. */
export async function insertPolicy(
  sql: Sql,
  owner: { readonly accountId: string; readonly agentId: number | null },
  cap: Cap,
): Promise<number> {
  const { window } = cap;
  const [row] = await sql<{ id: number }[]>`
    insert into policies ${sql({
      account_id: owner.accountId,
      agent_id: owner.agentId,
      kind: cap.kind,
      match_key: cap.matchKey,
      match_kind: cap.matchKind,
      limit_raw: `${cap.limitRaw}`,
      limit_floor_raw: cap.limitFloorRaw === null ? null : `${cap.limitFloorRaw}`,
      limit_ceiling_raw: cap.limitCeilingRaw === null ? null : `${cap.limitCeilingRaw}`,
      window_kind: window.kind,
      window_seconds: window.kind === 'rolling' ? window.seconds : null,
      calendar_unit: window.kind === 'calendar' ? window.unit : null,
      starts_at: new Date(0),
      expires_at: cap.expiresAtSec,
      effective_from: cap.effectiveFromSec,
      effective_until: cap.effectiveUntilSec,
      action: cap.action,
      label: cap.label,
      reserves: cap.reserves,
      quality_throttle_floor_bps: cap.qualityFloorBps,
      quality_window_seconds: cap.qualityWindowSeconds,
    })} returning id`;
  const policyId = row?.id ?? 0;
  if (owner.agentId !== null) return policyId;
  const empty = numberArray(Array.from({ length: bucketsOf(window) }, () => 0));
  await sql`insert into team_counters (policy_id, held_raw, head, buckets)
    values (${policyId}, 0, 0, ${empty}::bigint[])`;
  return policyId;
}
