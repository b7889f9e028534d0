import { RecentMap } from '../kernel/recent-map.ts';
import type { Queryable } from '../platform/postgres/sql.ts';
import { REPORT_LIMITS } from './limits.ts';
import {
  type ChangedSpend,
  findChangedSpend,
  findSpendBy,
  findTopSpend,
  type GroupedRow,
  type GroupedSpend,
  type SpendScope,
  type TopSpend,
} from './spend-store.ts';
import { addSums } from './spend-sums.ts';

/** The dearest groups of a former snapshot. `isWhole` is true when no other group existed. */
type Known = TopSpend & { readonly isWhole: boolean };

/**
 * Remembers the dearest customers and tasks of each report, because an account may have 100,000 of them. A later read sums only the
 * charges since then: costs are never negative, so a group that has not changed cannot rise above those that are remembered.
 */
export class TopGroups {
  readonly #sql: Queryable;
  readonly #known = new RecentMap<string, Promise<Known>>(REPORT_LIMITS.top.reports);

  constructor(sql: Queryable) {
    this.#sql = sql;
  }

  /** Returns the `top` groups of the highest cost and the sums of all groups, at the present. */
  async read(
    dimension: 'customer' | 'task',
    scope: SpendScope,
    top: number,
  ): Promise<GroupedSpend> {
    const name = JSON.stringify([dimension, scope, top]);
    const { changes } = REPORT_LIMITS.top;
    for (const isLast of [false, true]) {
      const known = await this.#knownOf(name, dimension, scope, top);
      const changed = await findChangedSpend(this.#sql, dimension, scope, known.marks, changes + 1);
      const rows = changed.rows.length > changes ? undefined : merge(known, changed, top);
      if (rows !== undefined) return { rows, total: changed.total };
      this.#known.delete(name);
      if (isLast) break;
    }
    return findSpendBy(this.#sql, dimension, scope, top);
  }

  #knownOf(
    name: string,
    dimension: 'customer' | 'task',
    scope: SpendScope,
    top: number,
  ): Promise<Known> {
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    const limit = top * REPORT_LIMITS.top.rememberedTimes;
    const reading = findTopSpend(this.#sql, dimension, scope, limit).then((found) => ({
      ...found,
      isWhole: found.rows.length < limit,
    }));
    this.#known.set(name, reading);
    reading.catch(() => this.#known.delete(name));
    return reading;
  }
}

/** Returns the dearest groups of the present. Undefined when the remembered groups do not tell them. */
function merge(known: Known, changed: ChangedSpend, top: number): GroupedRow[] | undefined {
  const changes = new Map(changed.marks.map((mark) => [mark.agentId, mark.changes]));
  if (known.marks.some(({ agentId, changes: before }) => changes.get(agentId) !== before)) {
    return undefined;
  }
  const groups = new Map(known.rows.map((row) => [row.key, row]));
  const unknown: GroupedRow[] = [];
  for (const row of changed.rows) {
    const before = groups.get(row.key);
    if (before !== undefined) groups.set(row.key, { key: row.key, ...addSums(before, row) });
    else if (known.isWhole) groups.set(row.key, row);
    else unknown.push(row);
  }
  const rows = [...groups.values()].sort(byCost).slice(0, top);
  // A group that was not among the remembered ones cost no more than the last of these.
  const mostRaw = known.rows.at(-1)?.costRaw ?? 0n;
  const leastRaw = rows.at(-1)?.costRaw ?? 0n;
  return unknown.some(({ costRaw }) => mostRaw + costRaw >= leastRaw) ? undefined : rows;
}

/** Compares by descending cost. Rows of one cost have the order of their keys. */
export const byCost = (a: GroupedRow, b: GroupedRow): number =>
  a.costRaw === b.costRaw ? byKey(a, b) : a.costRaw > b.costRaw ? -1 : 1;

export const byKey = (a: GroupedRow, b: GroupedRow): number => (a.key < b.key ? -1 : 1);
