import type { Worker } from '../../kernel/schedule.ts';
import type { MarketAnswer, MarketPrice } from '../../payments/proxy/marketplace.ts';
import { MARKETPLACE_LIMITS } from '../limits.ts';
import { advanceJob } from './advance-job.ts';
import type { ClaimedJob } from './job.ts';
import type { JobDeps } from './job-deps.ts';
import { claimJobs, forgetJobs } from './job-store.ts';
import { type JobReading, readJob } from './read-job.ts';
import { type JobCall, pagePrice, submitJob } from './submit-job.ts';

/** Jobs that turn documents into text. Any number of processes on one database share the work. */
export interface DocumentJobs extends AsyncDisposable {
  submit(call: JobCall): Promise<MarketAnswer>;
  read(reading: JobReading): Promise<MarketAnswer>;
  /** Returns the price of a page at a vendor. Throws OwnRefusal when there is no vendor of that name. */
  priceOf(vendor: string): MarketPrice;
  /** Advances due jobs by one step each, at most `jobsPerTick` at once. A slow vendor delays no other job. */
  readonly worker: Worker;
  /** Resolves when no job of this process is in progress. */
  idle(): Promise<void>;
}

export function createDocumentJobs(deps: JobDeps): DocumentJobs {
  const { jobsPerTick, tickMs } = MARKETPLACE_LIMITS.documents;
  const stopping = new AbortController();
  const running = new Set<Promise<void>>();
  const attending = { ...deps, signal: stopping.signal };

  /** Works on a job. Never rejects: a job that fails here is claimed again once its lease is over. */
  async function attend(job: ClaimedJob): Promise<void> {
    try {
      await advanceJob(attending, job);
    } catch (err) {
      deps.log.error({ err, jobId: job.id, step: job.step }, 'a job is taken up again later');
    }
  }
  const idle = async () => {
    while (running.size > 0) await Promise.all(running);
  };

  return {
    submit: (call) => submitJob(deps, call),
    read: (reading) => readJob(deps, reading),
    priceOf: (vendor) => pagePrice(deps, vendor),
    idle,
    worker: {
      name: 'document-jobs',
      everyMs: tickMs,
      async tick() {
        const free = jobsPerTick - running.size;
        if (free <= 0 || stopping.signal.aborted) return;
        for (const job of await claimJobs(deps.sql, free)) {
          const work = attend(job).finally(() => running.delete(work));
          running.add(work);
        }
        await forgetJobs(deps.sql, jobsPerTick);
      },
    },
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await idle();
    },
  };
}
