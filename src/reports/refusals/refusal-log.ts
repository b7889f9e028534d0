import { ApiError } from '../../kernel/api-error.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Log } from '../../kernel/log.ts';
import { RecentMap } from '../../kernel/recent-map.ts';
import { dayOf } from '../days.ts';
import { REPORT_LIMITS } from '../limits.ts';
import { factsOfRefusal } from './reason-of.ts';
import type { Refusal, RefusalReason } from './refusal.ts';
import type { NewRefusal, RefusalBatch } from './refusal-store.ts';

export type RefusalLog = {
  /** Counts an error if it is a refusal of spend or a failed call. Never waits and never throws. */
  note(asked: { readonly agentId: number; readonly requestId: string }, thrown: unknown): void;
  /** Counts a refusal that no error tells, such as the denial of a platform's call. Never waits and never throws. */
  add(refusal: Refusal): void;
  /** Writes all that was counted. A batch whose write failed is written again by the next call. */
  flush(): Promise<void>;
};

/** Refusals of one agent and UTC day since the last write. */
type Counted = {
  readonly agentId: number;
  readonly day: string;
  readonly byReason: Map<RefusalReason, number>;
  calls: number;
};

/**
 * Creates the log of refusals, which counts in memory, so that a refusal costs no statement. A killed process loses the counts
 * since the last flush.
 */
export function createRefusalLog(deps: {
  readonly clock: Clock;
  readonly log: Log;
  /** Writes a batch in one statement. Returns the agents and days that have all their rows. */
  readonly save: (batch: RefusalBatch) => Promise<readonly string[]>;
}): RefusalLog {
  const { clock, log, save } = deps;
  const { agents, rowsPerDay, waitingRows } = REPORT_LIMITS.refusals;
  /** Agents and days whose further refusals are counts alone. */
  const full = new RecentMap<string, true>(agents);
  let counted = new Map<string, Counted>();
  let rows: NewRefusal[] = [];
  let lost = 0;
  let unwritten: RefusalBatch | undefined;
  let writing: Promise<void> = Promise.resolve();

  const write = async (): Promise<void> => {
    if (lost > 0) log.warn({ refusals: lost }, 'refusals of too many agents were not counted');
    lost = 0;
    if (unwritten === undefined) {
      if (counted.size === 0) return;
      unwritten = batchOf(counted, rows);
      counted = new Map();
      rows = [];
    }
    for (const key of await save(unwritten)) full.set(key, true);
    unwritten = undefined;
  };

  const add = (refusal: Refusal): void => {
    const { agentId, reason } = refusal;
    const atMs = clock.now();
    const day = dayOf(atMs);
    const key = refusalKey(agentId, day);
    let mine = counted.get(key);
    if (mine === undefined) {
      if (counted.size >= agents) {
        lost++;
        return;
      }
      mine = { agentId, day, byReason: new Map(), calls: 0 };
      counted.set(key, mine);
    }
    mine.calls++;
    mine.byReason.set(reason, (mine.byReason.get(reason) ?? 0) + 1);
    if (mine.calls > rowsPerDay || rows.length >= waitingRows || full.get(key)) return;
    rows.push({ ...refusal, day, atMs, number: mine.calls });
  };

  return {
    add,

    note(asked, thrown) {
      const facts = thrown instanceof ApiError ? factsOfRefusal(thrown) : undefined;
      if (facts !== undefined) add({ ...asked, ...facts });
    },

    flush() {
      // One write at a time, so that a batch which failed is written before its successor.
      writing = writing.catch(() => {}).then(write);
      return writing;
    },
  };
}

/** Returns the name of an agent's UTC day. */
export const refusalKey = (agentId: number, day: string): string => `${agentId} ${day}`;

const batchOf = (
  counted: ReadonlyMap<string, Counted>,
  rows: readonly NewRefusal[],
): RefusalBatch => {
  const days = [...counted.values()];
  return {
    rows,
    days: days.map(({ agentId, calls, day }) => ({ agentId, day, calls })),
    totals: days.flatMap(({ agentId, byReason, day }) =>
      [...byReason].map(([reason, calls]) => ({ agentId, day, reason, calls })),
    ),
  };
};
