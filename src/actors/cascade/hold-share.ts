import type { Share, Tab } from './tab.ts';

/**
 * Holds what a purchase may come to beside everything that is not billed, and `floorRaw` in all at least. Throws
 * LegFailed where that cannot be paid; nothing is expected then.
 */
export type HoldShare = (mostRaw: bigint, floorRaw?: bigint) => Promise<Share>;

/** Holds are made one after another, so that each knows what the one before it may come to. */
export function createHolds(
  tab: Tab,
  /** Holds so much for what is not billed yet, or throws LegFailed. */
  afford: (totalRaw: bigint) => Promise<void>,
): HoldShare {
  let tail: Promise<unknown> = Promise.resolve();
  return (mostRaw, floorRaw = 0n) => {
    const held = tail.then(async () => {
      const totalRaw = tab.unbilledRaw() + mostRaw;
      await afford(totalRaw > floorRaw ? totalRaw : floorRaw);
      return tab.expect(mostRaw);
    });
    tail = held.catch(() => {});
    return held;
  };
}
