import type { Change, Companion, Delta } from './change.ts';
import type { Posting } from './posting.ts';
import type { HoldRefusal } from './requests.ts';
import type { Rules, WindowPosition } from './rules.ts';

/** Result of deciding an operation on one state of the agent. */
export type Decision =
  | {
      readonly kind: 'change';
      readonly change: Change;
      /** Amount that left the agent: charged or withdrawn. */
      readonly leftRaw: bigint;
      readonly shortfallRaw: bigint;
    }
  | { readonly kind: 'refused'; readonly refusal: HoldRefusal; readonly change: Change };

export type DecisionContext = {
  readonly rules: Rules;
  readonly position: WindowPosition;
  /** True amounts of open holds, by hold id, where the database has reported that the callers' amounts are outdated. */
  readonly openHolds: ReadonlyMap<string, bigint>;
};

/** Change that moves no money. */
export const NOTHING: Delta = {
  spendableRaw: 0n,
  heldRaw: 0n,
  creditedRaw: 0n,
  consumedRaw: 0n,
  walletRaw: 0n,
  promisedRaw: 0n,
};
export const NO_ROWS: readonly Companion[] = [];

/** Returns the decision for an operation that is written. Omitted parts of the change move nothing. */
export function changed(change: Partial<Change>, leftRaw = 0n, shortfallRaw = 0n): Decision {
  return {
    kind: 'change',
    change: {
      probe: false,
      posting: change.posting ?? null,
      delta: change.delta ?? NOTHING,
      hold: change.hold ?? null,
      guard: change.guard ?? null,
      count: change.count ?? null,
      companions: change.companions ?? NO_ROWS,
    },
    leftRaw,
    shortfallRaw,
  };
}

/** Returns the decision for a refused operation: its posting is only looked up. */
export const refused = (refusal: HoldRefusal, posting: Posting): Decision => ({
  kind: 'refused',
  refusal,
  change: {
    probe: true,
    posting,
    delta: NOTHING,
    hold: null,
    guard: null,
    count: null,
    companions: NO_ROWS,
  },
});
