import { type VendorClient, VendorFailed } from '../../models/providers/vendors/vendor-api.ts';
import { OwnRefusal } from '../errors.ts';
import { MARKETPLACE_LIMITS } from '../limits.ts';
import { VendorRefused } from '../vendor.ts';
import { openVendorClient } from '../vendor-client.ts';
import type { DocumentService, JobNews } from './document-service.ts';
import { completeJob, endJob, failJob } from './end-job.ts';
import { type ClaimedJob, INTERRUPTED } from './job.ts';
import type { JobDeps } from './job-deps.ts';
import { beginStart, lookAgain, undoStart } from './job-store.ts';
import { readArchive } from './read-archive.ts';
import { ResultTooLarge } from './vendor-files.ts';

type Deps = JobDeps & { readonly signal: AbortSignal };

const { lookMs, stepMs } = MARKETPLACE_LIMITS.documents;

/**
 * Takes a claimed job one step on. A start whose answer is lost is never sent again: the vendor is queried for the outcome, and
 * a vendor that reports none fails the job. Throws errors that no vendor caused; the job is claimed again then.
 */
export async function advanceJob(deps: Deps, job: ClaimedJob): Promise<void> {
  await deps.onPoint?.('claimed');
  if (job.verdict !== null) return endJob(deps, job, job.verdict);
  const { vendorJobId } = job;
  if (job.step === 'submitting' || vendorJobId === null) {
    return failJob(deps, job, INTERRUPTED);
  }
  if (job.isOverdue) {
    const message = 'The vendor was not done in time.';
    return failJob(deps, job, { code: 'timed_out', message });
  }
  const service = deps.vendors.find(({ name }) => name === job.vendor)?.documents;
  const account = deps.accounts.get(job.vendor);
  if (service === undefined || account === undefined) {
    const message = `This server has no account with ${job.vendor} any more.`;
    return failJob(deps, job, { code: 'vendor_unavailable', message });
  }
  const of = { agentId: job.agentId, signal: deps.signal };
  const door = openVendorClient({ ...deps, vendorMs: deps.vendorMs ?? stepMs }, account, of);
  if (job.step === 'queued') await start(deps, job, { service, door, vendorJobId });
  else await look(deps, job, { service, door, vendorJobId });
}

type AtVendor = {
  readonly service: DocumentService;
  readonly door: VendorClient;
  readonly vendorJobId: string;
};

const waitOf = ({ looks }: ClaimedJob): number =>
  Math.min(lookMs.first * 2 ** Math.min(looks, 16), lookMs.most);

async function start(deps: Deps, job: ClaimedJob, at: AtVendor): Promise<void> {
  if (!(await beginStart(deps.sql, job))) return;
  await deps.onPoint?.('start written');
  try {
    await at.service.start(at.door, at.vendorJobId);
  } catch (error) {
    return startFailed(deps, job, error);
  }
  await deps.onPoint?.('started');
  await lookAgain(deps.sql, job, { isRunning: true, waitMs: lookMs.first });
}

const TOO_MANY = 429;
const OF_ACCOUNT = new Set([401, 402, 403, 407]);

/** Handles a start that failed. A refusal shows that nothing has begun; any other failure leaves the start undecided. */
async function startFailed(deps: Deps, job: ClaimedJob, error: unknown): Promise<void> {
  const { log, sql } = deps;
  log.warn({ err: error, jobId: job.id }, 'a vendor did not take the start of a job');
  if (!(error instanceof VendorRefused)) {
    requireVendors(error);
    await lookAgain(sql, job, { isRunning: false, waitMs: waitOf(job) });
    return;
  }
  const { status } = error.answer;
  if (status === TOO_MANY) {
    await undoStart(sql, job, waitOf(job));
  } else if (OF_ACCOUNT.has(status)) {
    const message = `${job.vendor} does not serve this server now.`;
    await failJob(deps, job, { code: 'vendor_unavailable', message });
  } else if (status >= 400 && status < 500) {
    const message = `The vendor refused the document with status ${status}.`;
    await failJob(deps, job, { code: 'vendor_refused', message });
  } else await lookAgain(sql, job, { isRunning: false, waitMs: waitOf(job) });
}

/** Queries the vendor for the progress of a job. A vendor that does not answer is queried again until the job's deadline. */
async function look(deps: Deps, job: ClaimedJob, at: AtVendor): Promise<void> {
  try {
    const news = await at.service.look(at.door, at.vendorJobId);
    await deps.onPoint?.('looked');
    await follow(deps, job, at, news);
  } catch (error) {
    requireVendors(error);
    deps.log.warn({ err: error, jobId: job.id }, 'a vendor did not say what became of a job');
    await lookAgain(deps.sql, job, { isRunning: false, waitMs: waitOf(job) });
  }
}

function requireVendors(error: unknown): void {
  const isVendors =
    error instanceof VendorFailed || error instanceof VendorRefused || error instanceof OwnRefusal;
  if (!isVendors) throw error;
}

async function follow(deps: Deps, job: ClaimedJob, at: AtVendor, news: JobNews): Promise<void> {
  switch (news.kind) {
    case 'waiting': {
      if (job.step === 'starting' && job.isStartOverdue) {
        const message = 'Whether the vendor has begun is not known; it is not told twice.';
        return failJob(deps, job, { code: 'start_undecided', message });
      }
      await lookAgain(deps.sql, job, { isRunning: false, waitMs: waitOf(job) });
      return;
    }
    case 'running':
      await lookAgain(deps.sql, job, { isRunning: true, waitMs: waitOf(job) });
      return;
    case 'failed': {
      const message = news.reason === '' ? 'The vendor gave no reason.' : news.reason;
      return failJob(deps, job, {
        code: 'vendor_failed',
        message: withoutKeys(deps, job, message),
      });
    }
    case 'done':
      return deliver(deps, job, at, news);
  }
}

async function deliver(
  deps: Deps,
  job: ClaimedJob,
  { door, service, vendorJobId }: AtVendor,
  { pages: told }: Extract<JobNews, { kind: 'done' }>,
): Promise<void> {
  let archive: Buffer;
  try {
    archive = await deps.files.get(await service.resultAt(door, vendorJobId), deps.signal);
  } catch (error) {
    if (!(error instanceof ResultTooLarge)) throw error;
    const message = 'The vendor delivered more than is read here.';
    return failJob(deps, job, { code: 'unreadable_result', message });
  }
  await deps.onPoint?.('fetched');
  const read = await readArchive(archive, job.asked.format);
  if (read === undefined) {
    const message = 'The vendor delivered no archive with the text in it.';
    const observed = archive.subarray(0, 4).equals(ZIP)
      ? 'an archive without the text'
      : 'no archive';
    const departure = { tripwire: 'content_type', expected: 'application/zip', observed } as const;
    return failJob(deps, job, { code: 'unreadable_result', message }, [departure]);
  }
  await completeJob(deps, job, service, { archive, counted: read.pages, told });
}

const ZIP = Buffer.from('PK\u0003\u0004');

/** Returns a text without the credential, which some vendors quote. */
const withoutKeys = ({ accounts }: Deps, { vendor }: ClaimedJob, text: string): string =>
  (accounts.get(vendor)?.credentials ?? [])
    .filter((key) => key !== '')
    .reduce((left, key) => left.replaceAll(key, '***'), text);
