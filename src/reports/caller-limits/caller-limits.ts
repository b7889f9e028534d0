import type { AgentCaller, DeveloperCaller } from '../../http/route/caller.ts';
import { type Clock, isoTime } from '../../kernel/clock.ts';
import type { Sql } from '../../platform/postgres/sql.ts';
import { bucketsOfCaller, type RateLimits } from '../../rate-limit/rate-gate.ts';
import type { RateReader } from '../../rate-limit/rate-limit.ts';
import { COUNT_ROWS, type Counted, type CountRow, RATE_ROWS } from './limit-table.ts';
import { findAccountUse, findAgentUse, type Use } from './use-store.ts';

/** One limit of a caller, with the part that is left. */
export type CallerLimit = {
  readonly id: string;
  readonly what: string;
  readonly per: 'minute' | 'at a time';
  readonly limit: number;
  readonly remaining: number;
  /** Time at which all of the limit is free again. Null for limits of objects. */
  readonly resetsAt: string | null;
  readonly beyond: string;
};

export type CallerLimits = ReturnType<typeof createCallerLimits>;

/** Creates the reads of what binds a caller: requests a minute, and objects at a time. */
export function createCallerLimits(deps: {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly rates: RateReader;
  readonly rateLimits: RateLimits;
  /** Calls at a time where nothing else is set. */
  readonly usualCalls: { readonly agent: number; readonly account: number };
}) {
  const { clock, rateLimits, rates, sql, usualCalls } = deps;

  const ratesOf = (caller: AgentCaller | DeveloperCaller): CallerLimit[] =>
    bucketsOfCaller(caller, rateLimits).flatMap(({ kind, name, perMinute }) => {
      const row = RATE_ROWS.find(({ binds, bucket }) => bucket === kind && binds === caller.kind);
      if (row === undefined) return [];
      const { remaining, resetAtSec } = rates.peek(name, perMinute);
      return [
        {
          id: row.id,
          what: row.what,
          per: 'minute' as const,
          limit: perMinute,
          remaining,
          resetsAt: isoTime(resetAtSec * 1_000),
          beyond: row.beyond,
        },
      ];
    });

  return {
    /** Returns the limits of a caller. Requests a minute are those that this process knows of. */
    async read(caller: AgentCaller | DeveloperCaller) {
      const isAgent = caller.kind === 'agent';
      const use = isAgent
        ? await findAgentUse(sql, caller.agentId)
        : await findAccountUse(sql, caller.accountId);
      const usual = isAgent ? usualCalls.agent : usualCalls.account;
      return {
        asOf: isoTime(clock.now()),
        limits: [...ratesOf(caller), ...countsOf(caller.kind, use, use.callsAtOnce ?? usual)],
      };
    },
  };
}

const countsOf = (binds: CountRow['binds'], use: Use, callsAtOnce: number): CallerLimit[] =>
  Object.entries(COUNT_ROWS as Readonly<Record<string, CountRow>>)
    .filter(([, row]) => row.binds === binds)
    .map(([name, { beyond, id, most, what }]) => {
      const limit = name === 'agentCalls' || name === 'accountCalls' ? callsAtOnce : most;
      return {
        id,
        what,
        per: 'at a time' as const,
        limit,
        remaining: Math.max(0, limit - (use[name as Counted] ?? 0)),
        resetsAt: null,
        beyond,
      };
    });
