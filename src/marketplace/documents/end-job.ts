import {
  type ChargeRow,
  chargeRow,
  type EventRow,
  latencyOf,
} from '../../ledger/rules/companion.ts';
import type { Hold } from '../../ledger/rules/requests.ts';
import { insertEvents } from '../../ledger/store/agent-funds.ts';
import { jobCompleted, marketplaceSold } from '../../webhooks/payment-event.ts';
import { MARKETPLACE_LIMITS } from '../limits.ts';
import { listPriceRaw } from '../prices/price.ts';
import type { Deviation } from '../tripwires/deviation.ts';
import type { DocumentService, VendorPages } from './document-service.ts';
import { type ClaimedJob, failedVerdict, type JobError, type JobVerdict } from './job.ts';
import type { JobDeps } from './job-deps.ts';
import { decideJob, finishJob } from './job-store.ts';

/** Decides that a job has failed, and ends the job: its hold is released. */
export async function failJob(
  deps: JobDeps,
  job: ClaimedJob,
  error: JobError,
  departures: readonly Deviation[] = [],
): Promise<void> {
  await decideAndEnd(deps, job, failedVerdict(error, departures), null);
}

/** Result of a document, as it was downloaded. */
export type Arrived = {
  readonly archive: Buffer;
  /** Pages in the archive. Undefined when the archive does not show the number. */
  readonly counted: number | undefined;
  /** The vendor's own count of the pages that it made. */
  readonly told: VendorPages;
};

/**
 * Decides that a job has delivered, and ends it. The charge covers the pages that both the vendor's report and the archive
 * have.
 */
export async function completeJob(
  deps: JobDeps,
  job: ClaimedJob,
  { price }: DocumentService,
  arrived: Arrived,
): Promise<void> {
  const { archive, counted, told } = arrived;
  const departures = departuresOf(job, arrived);
  const made = Math.min(counted ?? told.succeeded ?? 0, told.succeeded ?? counted ?? 0);
  const delivered = Math.min(made, job.pagesHeld);
  if (delivered === 0) {
    const message = 'The vendor delivered no page.';
    return failJob(deps, job, { code: 'nothing_delivered', message }, departures);
  }
  const total = told.total ?? null;
  const failed = total === null ? null : Math.max(0, total - made);
  const { marginBps } = MARKETPLACE_LIMITS;
  const verdict: JobVerdict = {
    status: 'completed',
    pages: { total, delivered, failed },
    chargeRaw: listPriceRaw(price, delivered * 1_000, marginBps).toString(),
    error: null,
    departures,
  };
  await decideAndEnd(deps, job, verdict, archive);
}

function departuresOf({ pagesHeld }: ClaimedJob, { counted, told }: Arrived): readonly Deviation[] {
  const { succeeded } = told;
  const of = (expected: string, observed: number): readonly Deviation[] => [
    { tripwire: 'pages', expected, observed: `${observed} pages` },
  ];
  const most = Math.max(counted ?? 0, succeeded ?? 0);
  if (most > pagesHeld) return of(`at most ${pagesHeld} pages`, most);
  if (counted === undefined || succeeded === undefined || counted === succeeded) return [];
  return of(`${counted} pages`, succeeded);
}

async function decideAndEnd(
  deps: JobDeps,
  job: ClaimedJob,
  verdict: JobVerdict,
  result: Buffer | null,
): Promise<void> {
  if (!(await decideJob(deps.sql, job, verdict, result))) return;
  await deps.onPoint?.('decided');
  await endJob(deps, job, verdict);
}

/**
 * Settles a job whose outcome is decided, and ends it in one commit with its event and its line in the history. Any process may
 * repeat the call: the ledger settles a hold once, and returns the settled amount each time.
 */
export async function endJob(deps: JobDeps, job: ClaimedJob, verdict: JobVerdict): Promise<void> {
  const { ledger, log, note, sql } = deps;
  const owner = await deps.findOwner(job.agentId);
  const hold = (await deps.findHold(job.id)) ?? resolvedHold(job);
  const settled = await ledger.settle({
    hold,
    account: 'marketplace',
    source: job.vendor,
    actualRaw: BigInt(verdict.chargeRaw),
    charges: (costRaw) => [chargeOf(job, verdict, costRaw)],
    events: await eventsOf(deps, job, verdict),
  });
  const isPaid = settled.kind === 'settled';
  if (!isPaid && verdict.status === 'completed') {
    log.error({ jobId: job.id }, 'the hold of a job was resolved in another way');
  }
  await deps.onPoint?.('settled');
  const costRaw = isPaid ? settled.chargedRaw : 0n;
  const { status } = verdict;
  await sql.begin(async (tx) => {
    if (!(await finishJob(tx, job, { costRaw, status }))) return;
    if (owner !== undefined) {
      await insertEvents(tx, [
        jobCompleted({ ...owner, jobId: job.id, vendor: job.vendor, status }),
      ]);
    }
    if (costRaw > 0n) await note(tx, [lineOf(job, costRaw)]);
  });
  await deps.onPoint?.('finished');
}

async function eventsOf(
  { findOwner, tripwires }: JobDeps,
  { agentId, asked, id, vendor }: ClaimedJob,
  { chargeRaw, departures }: JobVerdict,
): Promise<readonly EventRow[]> {
  const { host, url } = asked;
  const amountRaw = BigInt(chargeRaw);
  const owner = await findOwner(agentId);
  const sold =
    owner === undefined || amountRaw === 0n
      ? []
      : [marketplaceSold({ ...owner, agentId, url, host, amountRaw, reference: id })];
  const of = { agentId, vendor, reference: id, owner: async () => owner };
  return [...sold, ...(await tripwires.eventsOf(of, departures))];
}

/**
 * Returns a hold that stands for a resolved hold. The ledger moves nothing for such a hold, so that these facts have no effect.
 */
const resolvedHold = ({ agentId, asked, heldRaw, id }: ClaimedJob): Hold => ({
  holdId: id,
  agentId,
  amountRaw: heldRaw,
  facts: { keyRootId: null, taskId: null, host: asked.host, payee: null },
});

const chargeOf = (
  { ageMs, agentId, asked }: ClaimedJob,
  { pages, status }: JobVerdict,
  costRaw: bigint,
): ChargeRow => {
  const isCompleted = status === 'completed';
  return chargeRow(
    { ...asked.spender, agentId },
    {
      targetUrl: asked.url,
      targetHost: asked.host,
      method: 'POST',
      status: isCompleted ? 'success' : 'failed',
      costRaw,
      rail: 'marketplace',
      usage: isCompleted ? { page: pages.delivered } : {},
      responseStatusCode: isCompleted ? 200 : null,
      latencyMs: ageMs,
    },
  );
};

const lineOf = ({ ageMs, agentId, asked }: ClaimedJob, chargedRaw: bigint) => ({
  agentId,
  keyId: asked.spender.keyId ?? null,
  targetUrl: asked.url,
  method: 'POST',
  responseStatusCode: 200,
  latencyMs: latencyOf(ageMs),
  taskId: asked.spender.taskId ?? null,
  actionId: asked.spender.actionId ?? null,
  chargedRaw,
});
