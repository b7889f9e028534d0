import type { HoldRefusal } from './requests.ts';

/** Attempts to hold: the full amount, then less for the balance, for a cap of the agent, for a cap of its team, and one race. */
const HOLD_TRIES = 5;

/** Largest amount that may be held, and the kind of limit that bounds it. */
export type Room = { readonly availableRaw: bigint; readonly reason: 'balance' | 'cap' };

/** Returns the amount that would fit; undefined when the hold was refused for another reason than its size. */
export function roomOf(refusal: HoldRefusal): Room | undefined {
  switch (refusal.reason) {
    case 'insufficient_balance':
    case 'reserve_exceeded':
      return { availableRaw: refusal.availableRaw, reason: 'balance' };
    case 'cap_exceeded':
      return { availableRaw: refusal.availableRaw, reason: 'cap' };
    default:
      return undefined;
  }
}

type Refused = { readonly kind: 'refused'; readonly refusal: HoldRefusal };

export type Fitted<W, V> = {
  readonly wanted: W;
  readonly verdict: V;
  /** Last refusal that reduced the size. Undefined when the first size was held. */
  readonly short: HoldRefusal | undefined;
};

type Sizes<W, V> = {
  readonly most: W;
  readonly least: (() => W) | undefined;
  readonly hold: (wanted: W, isQuiet: boolean) => Promise<V>;
  readonly less: (wanted: W, room: Room, refused: V & Refused) => W | undefined;
};

/**
 * Holds as much as the balance and every cap allow: first `most`, then the smaller sizes that `less` derives from each refusal,
 * up to `HOLD_TRIES` attempts. These attempts are quiet: no cap suspends the agent. When none fits because of a cap,
 * `least` (if given) is held without quiet, so only that amount can suspend the agent.
 */
export async function holdWhatFits<W, V extends Refused | { readonly kind: string }>(
  sizes: Sizes<W, V>,
): Promise<Fitted<W, V>> {
  const verdict = await sizes.hold(sizes.most, true);
  return isRefused(verdict)
    ? holdLess(verdict, sizes)
    : { wanted: sizes.most, verdict, short: undefined };
}

/** Goes on as `holdWhatFits` after the refusal of `most`. */
export async function holdLess<W, V extends Refused | { readonly kind: string }>(
  refused: V & Refused,
  { hold, least, less, most }: Sizes<W, V>,
): Promise<Fitted<W, V>> {
  let short: HoldRefusal | undefined;
  let wanted = most;
  let verdict: V = refused;
  for (let tries = 1; isRefused(verdict) && tries < HOLD_TRIES; tries++) {
    const room = roomOf(verdict.refusal);
    const smaller = room && less(wanted, room, verdict);
    if (smaller === undefined) break;
    short = verdict.refusal;
    wanted = smaller;
    verdict = await hold(wanted, true);
  }
  if (isRefused(verdict) && verdict.refusal.reason === 'cap_exceeded' && least !== undefined) {
    wanted = least();
    verdict = await hold(wanted, false);
  }
  return { wanted, verdict, short };
}

/**
 * Holds the largest count of seconds or tokens, from `most` down to `least`, whose price fits the balance and every cap. With
 * `isNeeded` false the caller can continue without the hold, so that a cap that suspends agents refuses it without suspending.
 */
export const holdLargestCount = <V extends Refused | { readonly kind: string }>(options: {
  readonly least: number;
  readonly most: number;
  readonly priceRaw: (count: number) => bigint;
  readonly hold: (raw: bigint, isQuiet: boolean) => Promise<V>;
  readonly isNeeded?: boolean;
}): Promise<Fitted<number, V>> => {
  const { hold, isNeeded = true, least, most, priceRaw } = options;
  return holdWhatFits<number, V>({
    most,
    least: isNeeded ? () => least : undefined,
    hold: (count, isQuiet) => hold(priceRaw(count), isQuiet),
    less: (count, { availableRaw }) =>
      largestFitting({ least, most: count - 1 }, (fewer) => priceRaw(fewer) <= availableRaw),
  });
};

const isRefused = <V extends { readonly kind: string }>(verdict: V): verdict is V & Refused =>
  verdict.kind === 'refused';

/** Returns the largest whole number from `least` to `most` that fits; undefined when none fits. */
export function largestFitting(
  { least, most }: { readonly least: number; readonly most: number },
  fits: (count: number) => boolean,
): number | undefined {
  if (most < least || !fits(least)) return undefined;
  let low = least;
  let high = most;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (fits(middle)) low = middle;
    else high = middle - 1;
  }
  return low;
}
