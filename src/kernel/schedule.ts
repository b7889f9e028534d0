import type { Clock } from './clock.ts';
import type { Log } from './log.ts';

/** A worker: one bounded piece of work, called again and again. */
export type Worker = {
  readonly name: string;
  readonly everyMs: number;
  tick(): Promise<void>;
};

/**
 * Runs each worker at its interval, counted from the end of its last run, so that no worker overlaps itself. A run that fails
 * is logged and does not stop the next run. Disposal waits for running workers.
 */
export function startWorkers(
  deps: { readonly clock: Clock; readonly log: Log },
  workers: readonly Worker[],
): AsyncDisposable {
  const { clock, log } = deps;
  let stopped = false;
  const timers = new Map<Worker, object>();
  const running = new Map<Worker, Promise<void>>();

  const run = async (worker: Worker) => {
    try {
      await worker.tick();
    } catch (error) {
      log.error({ err: error, worker: worker.name }, 'a worker failed; it runs again');
    } finally {
      running.delete(worker);
    }
    arm(worker);
  };
  const arm = (worker: Worker) => {
    if (stopped) return;
    const timer = clock.setTimeout(() => running.set(worker, run(worker)), worker.everyMs);
    timers.set(worker, timer);
  };

  for (const worker of workers) arm(worker);
  return {
    async [Symbol.asyncDispose]() {
      stopped = true;
      for (const timer of timers.values()) clock.clearTimeout(timer);
      await Promise.all(running.values());
    },
  };
}
