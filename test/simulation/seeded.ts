/** Chance that can be played again: the same seed makes the same choices. */
export type Chance = {
  /** A whole number from 0 to `below` - 1. */
  below(below: number): number;
  /** True once in `n` times. */
  oneIn(n: number): boolean;
  pick<T>(items: readonly T[]): T;
};

export function seededChance(seed: number): Chance {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
  const below = (limit: number) => Math.floor(next() * limit);
  return {
    below,
    oneIn: (n) => below(n) === 0,
    pick: (items) => {
      const item = items[below(items.length)];
      if (item === undefined) throw new Error('nothing to pick from');
      return item;
    },
  };
}

/** `SEED=…` replays one run; otherwise there are so many: half of them known, half new in every run. */
export function seedsToRun(count: number): readonly number[] {
  const { SEED } = process.env;
  if (SEED !== undefined) return [Number(SEED)];
  const unseen = Date.now() % 1_000_000_007;
  return Array.from({ length: count }, (_, i) => (i % 2 === 0 ? 1 + i / 2 : unseen + i));
}
