import { slowness, threadCpuMs } from './thread-cpu.ts';

/**
 * For how long the event loop worked without a turn at most while a promise was under way, in milliseconds of the
 * processor: what other processes take of it does not count.
 */
export async function longestStallMs(work: () => Promise<unknown>): Promise<number> {
  let lastMs = threadCpuMs();
  let longestMs = 0;
  const look = () => {
    const nowMs = threadCpuMs();
    longestMs = Math.max(longestMs, nowMs - lastMs);
    lastMs = nowMs;
  };
  let isOver = false;
  const turn = () => {
    look();
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  await work().finally(() => {
    isOver = true;
  });
  look();
  return longestMs;
}

/**
 * The same of the quietest of three runs, on a machine as fast as the bounds are meant for: a collection of garbage, or
 * code that is compiled in the middle, is not the work's own.
 */
export async function usualStallMs(mostMs: number, work: () => Promise<unknown>): Promise<number> {
  let leastMs = Number.POSITIVE_INFINITY;
  for (let run = 0; run < 3 && leastMs >= mostMs; run++) {
    leastMs = Math.min(leastMs, (await longestStallMs(work)) / slowness());
  }
  return leastMs;
}
