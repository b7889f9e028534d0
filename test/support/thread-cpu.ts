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

/** How many times slower this machine is just now than one of its own: neighbours take caches and memory, too. */
export function slowness(): number {
  const startedMs = threadCpuMs();
  let sum = 0;
  for (let at = 0; at < WALK.length; at++) sum += WALK[at] as number;
  const tookMs = threadCpuMs() - startedMs;
  return sum === WALK.length ? Math.max(1, tookMs / WALK_MS) : Number.NaN;
}
