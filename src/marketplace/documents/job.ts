import { isoTime } from '../../kernel/clock.ts';
import type { Spender } from '../../ledger/rules/requests.ts';
import type { Deviation } from '../tripwires/deviation.ts';
import type { DocumentOrder } from './document-service.ts';

/**
 * Step of a job: `submitting` until the caller hears of the job, then `queued`, `starting` from the moment that the vendor may
 * begin, `running` once the vendor reports the begin, `ending` when the outcome is decided, and `completed` or `failed` when
 * the job is settled.
 */
export type JobStep =
  | 'submitting'
  | 'queued'
  | 'starting'
  | 'running'
  | 'ending'
  | 'completed'
  | 'failed';

/** Order of a job: its options, its spender, and the URL and host for the agent's history. */
export type JobRequest = DocumentOrder & {
  readonly url: string;
  readonly host: string;
  readonly spender: Spender;
};

/** Outcome of a job. It is stored before the job is settled, and never changes. */
export type JobVerdict = {
  readonly status: 'completed' | 'failed';
  readonly pages: {
    readonly total: number | null;
    readonly delivered: number;
    readonly failed: number | null;
  };
  readonly chargeRaw: string;
  readonly error: JobError | null;
  readonly departures: readonly Deviation[];
};

export type JobError = {
  readonly code:
    | 'vendor_failed'
    | 'vendor_refused'
    | 'vendor_unavailable'
    | 'start_undecided'
    | 'timed_out'
    | 'interrupted'
    | 'unreadable_result'
    | 'nothing_delivered';
  readonly message: string;
};

/** Error of a job whose process was lost or gave up before the vendor had the document. */
export const INTERRUPTED: JobError = {
  code: 'interrupted',
  message: 'The server was lost before the vendor had the document.',
};

/** Returns the verdict of a failed job, which costs nothing. */
export const failedVerdict = (
  error: JobError,
  departures: readonly Deviation[] = [],
): JobVerdict => ({
  status: 'failed',
  pages: { total: null, delivered: 0, failed: null },
  chargeRaw: '0',
  error,
  departures,
});

/** A job that this process alone works on, for the time of a lease. `epoch` counts the claims on the job. */
export type ClaimedJob = {
  readonly id: string;
  readonly epoch: number;
  readonly agentId: number;
  readonly accountId: string;
  readonly vendor: string;
  readonly step: JobStep;
  readonly asked: JobRequest;
  readonly pagesHeld: number;
  readonly heldRaw: bigint;
  readonly vendorJobId: string | null;
  readonly looks: number;
  readonly verdict: JobVerdict | null;
  /** True when the job is older than `MARKETPLACE_LIMITS.documents.lifeMs`. */
  readonly isOverdue: boolean;
  /**
   * True when the answer to the start was lost `startUndecidedMs` ago, and the vendor has not reported that the job has begun.
   */
  readonly isStartOverdue: boolean;
  readonly ageMs: number;
};

/** A job as its agent sees it. */
export type StoredJob = {
  readonly id: string;
  readonly vendor: string;
  readonly step: JobStep;
  readonly asked: JobRequest;
  readonly pagesHeld: number;
  readonly heldRaw: bigint;
  /** True when the vendor has the document: the job was queued, even if the submitting process never learnt of that. */
  readonly isAccepted: boolean;
  readonly verdict: JobVerdict | null;
  readonly costRaw: bigint | null;
  readonly resultBytes: number | null;
  readonly resultUntil: Date | null;
  readonly createdAt: Date;
  readonly startedAt: Date | null;
  readonly endedAt: Date | null;
};

const STATUS = {
  submitting: 'queued',
  queued: 'queued',
  starting: 'running',
  running: 'running',
  ending: 'running',
  completed: 'completed',
  failed: 'failed',
} as const;

/** Returns the record of a job on the wire. Its cost is null until the job is settled. */
export const jobRecord = (job: StoredJob, statusUrl: string) => ({
  jobId: job.id,
  vendor: job.vendor,
  status: STATUS[job.step],
  statusUrl,
  outputFormat: job.asked.format,
  pages: {
    held: job.pagesHeld,
    total: job.verdict?.pages.total ?? null,
    delivered: job.verdict?.pages.delivered ?? null,
    failed: job.verdict?.pages.failed ?? null,
  },
  heldRaw: job.costRaw === null ? job.heldRaw.toString() : '0',
  costRaw: job.costRaw?.toString() ?? null,
  error: job.endedAt === null ? null : (job.verdict?.error ?? null),
  createdAt: isoTime(job.createdAt.getTime()),
  startedAt: timeOrNull(job.startedAt),
  endedAt: timeOrNull(job.endedAt),
  resultUntil: timeOrNull(job.resultUntil),
});

const timeOrNull = (at: Date | null): string | null => (at === null ? null : isoTime(at.getTime()));
