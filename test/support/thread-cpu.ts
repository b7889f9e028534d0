import { readFileSync } from 'node:fs';

const SCHEDSTAT = '/proc/thread-self/schedstat';

/**
 * Milliseconds for which this thread has had a processor: what it does, whatever else the machine does meanwhile. Where
 * the system does not tell, the time on the wall.
 */
export function threadCpuMs(): number {
  try {
    return Number(readFileSync(SCHEDSTAT, 'latin1').split(' ')[0]) / 1e6;
  } catch {
    return performance.now();
  }
}

/** What this walk takes on a machine of its own. */
const WALK = Buffer.alloc(8 * 1024 * 1024, 1);
const WALK_MS = 10;

/** The same of building an object of so many members: where pages of memory are dear, it takes far longer than the walk tells. */
const BUILT = `{${Array.from({ length: 20_000 }, (_, i) => `"k${i}":1`).join(',')}}`;
const BUILT_MS = 8;

/** How many times slower this machine is just now than one of its own: neighbours take caches and memory, too. */
export const slowness = (): number =>
  Math.max(
    1,
    tookMs(() => {
      let sum = 0;
      for (let at = 0; at < WALK.length; at++) sum += WALK[at] as number;
      return sum;
    }) / WALK_MS,
    tookMs(() => JSON.parse(BUILT)) / BUILT_MS,
  );

function tookMs(work: () => unknown): number {
  const startedMs = threadCpuMs();
  const done = work();
  return done === undefined ? Number.NaN : threadCpuMs() - startedMs;
}
