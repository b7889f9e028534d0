import { readdirSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';
import { setFlagsFromString } from 'node:v8';

const THREADS = '/proc/self/task';
/**
 * Niceness beyond that of the thread that serves. Where both want a core, they get a tenth of what it gets, and not less:
 * code that is compiled soon is faster, too.
 */
const NICENESS_ADDED = 10;
const MOST_NICENESS = 19;
/**
 * Percent of its live data by which the old generation may grow before V8 collects it. V8 itself chooses four times the live
 * data at most, and far less for a process that seldom allocates there, such as one of many calls. One such collection marks
 * live data for 0.15 s, by which a lone core of 600 calls falls behind: nothing else costs it as much. Under any value V8
 * collects before the heap is halfway from the live data to its limit, which Node.js derives from the memory of the machine or
 * the container.
 */
const HEAP_GROWING_PERCENT = 900;

/**
 * Has the threads with which V8 collects garbage and compiles yield to the one that callers wait for, and collect less
 * often. Without it they take turns with it wherever there are fewer cores than threads, 16 ms at a time, every few
 * seconds: on a core of 600 calls 2 % of all frames were late for that. To be called first: workers that start later
 * see to their own priority. A system that has no priorities of threads, or refuses them, is served as it is.
 */
export function favourMedia(): void {
  setFlagsFromString(`--heap-growing-percent=${HEAP_GROWING_PERCENT}`);
  if (process.platform !== 'linux') return;
  try {
    const niceness = Math.min(getPriority() + NICENESS_ADDED, MOST_NICENESS);
    for (const thread of readdirSync(THREADS)) {
      if (thread !== String(process.pid)) setPriority(Number(thread), niceness);
    }
  } catch {
    // A thread that has just ended, or a place that hides them: nothing depends on it.
  }
}
