import type { MatchKind, Policy, PolicyKind, SpendWindow } from '../../policy/policy.ts';

/** A living policy as `living_policies` returns it. Amounts are text, because JSON numbers lose digits. */
export type PolicyJson = {
  id: number;
  agent_id: number | null;
  kind: PolicyKind;
  match_key: string | null;
  match_kind: MatchKind | null;
  limit_raw: string;
  limit_floor_raw: string | null;
  limit_ceiling_raw: string | null;
  window_kind: SpendWindow['kind'];
  window_seconds: number | null;
  calendar_unit: 'day' | 'week' | 'month' | null;
  effective_from: number | null;
  effective_until: number | null;
  expires_at: number | null;
  action: Policy['action'];
  quality_throttle_floor_bps: number | null;
  quality_window_seconds: number | null;
  reserves: boolean;
  label: string | null;
  starts_at_ms?: number;
};

export const policyOf = (row: PolicyJson): Policy => ({
  id: row.id,
  agentId: row.agent_id,
  kind: row.kind,
  matchKey: row.match_key,
  matchKind: row.match_kind,
  limitRaw: BigInt(row.limit_raw),
  limitFloorRaw: bigOrNull(row.limit_floor_raw),
  limitCeilingRaw: bigOrNull(row.limit_ceiling_raw),
  window: windowOf(row),
  effectiveFromSec: row.effective_from,
  effectiveUntilSec: row.effective_until,
  expiresAtSec: row.expires_at,
  action: row.action,
  qualityFloorBps: row.quality_throttle_floor_bps,
  qualityWindowSeconds: row.quality_window_seconds,
  reserves: row.reserves,
  label: row.label,
  startsAtMs: row.starts_at_ms,
});

const bigOrNull = (text: string | null): bigint | null => (text === null ? null : BigInt(text));

function windowOf(row: PolicyJson): SpendWindow {
  switch (row.window_kind) {
    case 'rolling':
      return { kind: 'rolling', seconds: row.window_seconds ?? 0 };
    case 'calendar':
      return { kind: 'calendar', unit: row.calendar_unit ?? 'day' };
    default:
      return { kind: row.window_kind };
  }
}
