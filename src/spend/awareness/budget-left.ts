import { minRaw } from '../../kernel/amount.ts';
import { isoTime } from '../../kernel/clock.ts';
import { BRAND } from '../../kernel/ids.ts';
import type { SettleVerdict } from '../../ledger/rules/ledger.ts';
import type { Spender } from '../../ledger/rules/requests.ts';
import { type Room, readAt, roomFor, type Snapshot } from '../../ledger/rules/spend-state.ts';
import type { Counter } from '../../policy/counter.ts';
import { binds, type CapState, tightestOf } from '../../policy/evaluate.ts';
import type { SpendFacts } from '../../policy/policy.ts';
import type { TeamReadings } from './team-readings.ts';

/** Remaining amount for spending of the same kind, for a response's headers. */
export type BudgetLeft = {
  /** Smallest amount that the balance and the caps leave. Undefined when it is not known. */
  readonly remainingRaw: bigint | undefined;
  /** Text of the response header. Undefined when no cap applies or nothing is to be reported. */
  readonly advisory: string | undefined;
};

/** Facts of a purchase and its spender. They alone decide which caps are reported. */
export type SpendContext = { readonly facts: SpendFacts; readonly spender: Spender };

export type BudgetReports = ReturnType<typeof createBudgetReports>;

export const BUDGET_ADVISORY_HEADER = `${BRAND.headerPrefix}budget-advisory`;

/**
 * Reports the budget that a settlement left, from the data in its verdict. Only a team's caps may need a read of the database.
 */
export function createBudgetReports(deps: {
  readonly team: TeamReadings;
  /** Returns the database's time in Unix milliseconds. */
  readonly now: () => number;
  readonly advisory: { readonly enabled: boolean; readonly nearLimitBps?: number | undefined };
}) {
  const { team, now, advisory } = deps;

  function report(
    after: Snapshot,
    { facts, spender }: SpendContext,
    counters?: ReadonlyMap<number, Counter>,
  ): BudgetLeft {
    const room = roomFor(readAt(after, now(), counters), facts, spender.taskValueBps ?? null);
    const tightest = tightestOf(room.caps);
    return {
      remainingRaw: leastOf(room, tightest),
      advisory:
        tightest === undefined || !advisory.enabled
          ? undefined
          : advisoryOf(tightest, advisory.nearLimitBps),
    };
  }

  return {
    async left(
      { funds, after }: Pick<Extract<SettleVerdict, { kind: 'settled' }>, 'funds' | 'after'>,
      bought: SpendContext,
    ): Promise<BudgetLeft> {
      if (after === undefined) return { remainingRaw: funds.spendableRaw, advisory: undefined };
      const { teamPolicies } = after.rules;
      const nowSec = Math.floor(now() / 1_000);
      if (!teamPolicies.some((policy) => binds(policy, bought.facts, nowSec))) {
        return report(after, bought);
      }
      const counters = await team.of(teamPolicies);
      if (counters === undefined) return { remainingRaw: undefined, advisory: undefined };
      return report(after, bought, counters);
    },
  };
}

const leastOf = ({ availableRaw }: Room, tightest: CapState | undefined): bigint =>
  tightest === undefined ? availableRaw : minRaw(availableRaw, tightest.remainingRaw);

const WHOLE_BPS = 10_000;

/**
 * Returns the advisory of the tightest cap: nested, as clients read it, and flat, as the specification lists it.
 *
 * @internal Tests go through caps of every state.
 */
export function advisoryOf(tightest: CapState, nearLimitBps: number | undefined): string {
  const { policy, remainingRaw, windowResetsAtMs } = tightest;
  const usedBps = usedBpsOf(tightest);
  const figures = { used_bps: usedBps, remaining_raw: remainingRaw.toString() };
  const resets =
    policy.window.kind === 'rolling' && windowResetsAtMs !== null
      ? { window_resets_at: isoTime(windowResetsAtMs) }
      : {};
  const text = JSON.stringify({
    ...(nearLimitBps !== undefined && { near_limit: usedBps >= nearLimitBps }),
    tightest: {
      scope: policy.kind,
      match: policy.matchKey,
      ...figures,
      window_kind: policy.window.kind,
      ...resets,
    },
    ...figures,
    ...resets,
  });
  // Clients decode headers in different encodings; escapes are equal in all of them.
  return text.replace(/[\u007f-\uffff]/g, escaped);
}

const escaped = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** Returns the used share of a cap, in bps. A cap that outcomes have tightened to 0 counts as used up. */
const usedBpsOf = ({ spentRaw, capRaw }: CapState): number =>
  spentRaw >= capRaw ? WHOLE_BPS : Number((spentRaw * BigInt(WHOLE_BPS)) / capRaw);
