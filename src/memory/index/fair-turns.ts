import { soon } from '../../kernel/clock.ts';
import type { Steps } from './space.ts';

/** Divides the time of one thread among the work of many spaces. */
export interface FairTurns {
  /**
   * Does work for a space, one step a turn, after the space's earlier work. A space that has had fewer turns comes first, so
   * new work does not wait for other spaces to finish. Rejects as the work throws.
   */
  run<T>(space: number, begin: () => Steps<T>): Promise<T>;
}

type Job = {
  readonly begin: () => Steps<unknown>;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
  steps?: Steps<unknown>;
};
/** Queue of a space. `turns` starts at the present count of the spaces with work (start-time fair queueing). */
type Line = { turns: number; readonly jobs: Job[] };

/** Creates the queue of the thread's work. `pause` is called between two turns, so that messages can arrive. */
export function createFairTurns(pause: (callback: () => void) => void = soon): FairTurns {
  const lines = new Map<number, Line>();
  /** Smallest number of turns that a space with work has had. */
  let now = 0;
  let isWaiting = false;

  /**
   * Returns the queue with the fewest turns; of equal queues, the newest. A short search then waits for one step of all other
   * spaces together, not for one step of each.
   */
  function next(): Line | undefined {
    let least: Line | undefined;
    for (const [space, line] of lines) {
      if (line.jobs.length === 0) {
        // A space without work is forgotten. Its next work counts as the work of a new space.
        if (line.turns <= now) lines.delete(space);
      } else if (least === undefined || line.turns <= least.turns) least = line;
    }
    if (least === undefined) lines.clear();
    return least;
  }

  function turn(): void {
    isWaiting = false;
    const line = next();
    const job = line?.jobs[0];
    if (line === undefined || job === undefined) return;
    now = Math.max(now, line.turns);
    line.turns++;
    try {
      job.steps ??= job.begin();
      const { done, value } = job.steps.next();
      if (done === true) {
        line.jobs.shift();
        job.resolve(value);
      }
    } catch (error) {
      line.jobs.shift();
      job.reject(error);
    }
    schedule();
  }

  function schedule(): void {
    if (isWaiting) return;
    isWaiting = true;
    pause(turn);
  }

  return {
    run<T>(space: number, begin: () => Steps<T>) {
      return new Promise<T>((resolve, reject) => {
        const line = lines.get(space) ?? { turns: now, jobs: [] };
        if (line.jobs.length === 0) line.turns = Math.max(line.turns, now);
        lines.set(space, line);
        line.jobs.push({ begin, resolve: resolve as (value: unknown) => void, reject });
        schedule();
      });
    },
  };
}
