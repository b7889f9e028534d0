import type { Purses } from '../purses.ts';
import { LegFailed } from '../realtime/legs.ts';
import { turnRefused } from '../voice-endings.ts';
import type { Extension } from '../voice-purse.ts';
import { type Share, Tab } from './tab.ts';

/** How a purchase is held for. */
export type Holding = {
  /** So much in all at least. */
  readonly floorRaw?: bigint;
  /** Nobody wants it yet: that it cannot be paid has no consequence. */
  readonly isQuiet?: boolean;
};

/**
 * Holds what a purchase may come to beside everything that is not billed. Throws LegFailed where that cannot be paid;
 * nothing is expected then.
 */
export type HoldShare = (mostRaw: bigint, holding?: Holding) => Promise<Share>;

/** What is bought out of one purse of a session. */
export type Pocket = { readonly tab: Tab; readonly hold: HoldShare };

export type Pockets = ReturnType<typeof createPockets>;

/** Everything that a session buys, by the purse that pays it. */
export function createPockets(purses: Pick<Purses, 'hold' | 'holdQuietly'>) {
  const pockets = new Map<string, Pocket>();
  return {
    of(purse: string): Pocket {
      const known = pockets.get(purse);
      if (known !== undefined) return known;
      const tab = new Tab();
      const afford = async (totalRaw: bigint, isQuiet: boolean) => {
        if (!isQuiet) return requireHeld(await purses.hold(purse, totalRaw));
        if (await purses.holdQuietly(purse, totalRaw)) return;
        throw new LegFailed('not_begun', 'Nobody wants it yet, and it cannot be held.');
      };
      const pocket = { tab, hold: createHolds(tab, afford) };
      pockets.set(purse, pocket);
      return pocket;
    },
    /** Resolves when it is known what every payment under way has bought. */
    async paymentsKnown(): Promise<void> {
      await Promise.all([...pockets.values()].map(({ tab }) => tab.paymentsKnown()));
    },
    /** What is over; it is billed now. */
    take: () =>
      [...pockets].flatMap(([purse, { tab }]) =>
        tab.take().map((bought) => ({ ...bought, purse })),
      ),
  };
}

/** Throws LegFailed where nothing was held. */
export function requireHeld(verdict: Extension): void {
  if (verdict.kind === 'extended') return;
  if (verdict.kind === 'lost') throw new LegFailed('settled_elsewhere', 'The session is over.');
  const { error, reason } = turnRefused(verdict.refusal);
  throw new LegFailed(error?.code ?? reason, error?.message ?? reason);
}

/** Holds are made one after another, so that each knows what the one before it may come to. */
export function createHolds(
  tab: Tab,
  /** Holds so much for what is not billed yet, or throws LegFailed. */
  afford: (totalRaw: bigint, isQuiet: boolean) => Promise<void>,
): HoldShare {
  let tail: Promise<unknown> = Promise.resolve();
  return (mostRaw, { floorRaw = 0n, isQuiet = false } = {}) => {
    const held = tail.then(async () => {
      const totalRaw = tab.unbilledRaw() + mostRaw;
      await afford(totalRaw > floorRaw ? totalRaw : floorRaw, isQuiet);
      return tab.expect(mostRaw);
    });
    tail = held.catch(() => {});
    return held;
  };
}
