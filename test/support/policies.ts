import { createInvalidations } from '../../src/accounts/keys/invalidations.ts';
import { silentLog } from '../../src/kernel/log.ts';
import { type PolicyJson, policyOf } from '../../src/ledger/store/policy-row.ts';
import type { Sql } from '../../src/platform/postgres/sql.ts';
import { seedCounter } from '../../src/spend/limits/counter-store.ts';

export type PolicyWish = {
  readonly accountId: string;
  /** Null for a team. */
  readonly agentId: number | null;
  readonly kind: PolicyJson['kind'];
  readonly matchKey?: string;
  readonly limitRaw: bigint;
  /** As far as the value of a task moves it. */
  readonly limitFloorRaw?: bigint;
  readonly limitCeilingRaw?: bigint;
  readonly windowKind?: PolicyJson['window_kind'];
  readonly windowSeconds?: number;
  readonly calendarUnit?: 'day' | 'week' | 'month';
  readonly action?: 'block' | 'suspend_agent';
  readonly label?: string;
  /** What is unspent of it is kept free for its task. */
  readonly reserves?: boolean;
};

/** A policy as its routes write it: the row, its counter and the agents' versions in one sql transaction. */
export async function addPolicy(sql: Sql, wanted: PolicyWish): Promise<number> {
  const { accountId, agentId, kind, matchKey = null, limitRaw } = wanted;
  const windowKind = wanted.windowKind ?? (kind === 'session' ? 'session' : 'rolling');
  const seconds = windowKind === 'rolling' ? (wanted.windowSeconds ?? 86_400) : null;
  const invalidations = createInvalidations({ sql, log: silentLog });
  const write = async (tx: Parameters<Parameters<typeof invalidations.commit>[1]>[0]) => {
    const [row] = await tx<PolicyJson[]>`
      insert into policies (account_id, agent_id, kind, match_key, limit_raw,
        limit_floor_raw, limit_ceiling_raw, window_kind,
        window_seconds, calendar_unit, starts_at, action, label, reserves)
      values (${accountId}, ${agentId}, ${kind}, ${matchKey}, ${String(limitRaw)}::bigint,
        ${raw(wanted.limitFloorRaw)}::bigint, ${raw(wanted.limitCeilingRaw)}::bigint, ${windowKind},
        ${seconds}, ${wanted.calendarUnit ?? null},
        ${windowKind === 'rolling' || windowKind === 'calendar' ? new Date(0) : new Date()},
        ${wanted.action ?? 'block'}, ${wanted.label ?? null}, ${wanted.reserves ?? false})
      returning *`;
    if (row === undefined) throw new Error('an insert returns its row');
    const policy = policyOf(row);
    const startsAtMs = windowKind === 'rolling' || windowKind === 'calendar' ? 0 : Date.now();
    await seedCounter(tx, policy, { accountId, agentId }, startsAtMs, Date.now());
    return policy.id;
  };
  return agentId === null
    ? invalidations.commitTeam(accountId, write)
    : invalidations.commit({ kind: 'agent_changed', agentId }, write);
}

const raw = (amount: bigint | undefined): string | null => amount?.toString() ?? null;
