import { OUTCOMES } from './batch.ts';
import type { BatchCount } from './batch-store.ts';

/** Counts of the recipients of a batch, and the cost of their calls that are over. */
export type BatchTotals = {
  readonly recipients: number;
  /** Number of recipients by state: `waiting`, `calling`, or the outcome of a recipient that is done. */
  readonly counts: Readonly<Record<string, number>>;
  readonly costRaw: bigint;
};

const NONE = Object.fromEntries(['waiting', 'calling', ...OUTCOMES].map((name) => [name, 0]));

export function totalsOf(counted: readonly BatchCount[]): BatchTotals {
  const counts: Record<string, number> = { ...NONE };
  let recipients = 0;
  let costRaw = 0n;
  for (const { outcome, state, ...count } of counted) {
    const name = state === 'done' ? (outcome ?? 'failed') : state;
    counts[name] = (counts[name] ?? 0) + count.recipients;
    recipients += count.recipients;
    costRaw += count.costRaw;
  }
  return { recipients, counts, costRaw };
}
