import { threadCpuMs } from './thread-cpu.ts';

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
