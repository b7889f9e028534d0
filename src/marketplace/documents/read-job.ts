import { writeJsonInTurns } from '../../kernel/json/write-json.ts';
import { joinPieces } from '../../kernel/long-work.ts';
import type { MarketAnswer, OnOver } from '../../payments/proxy/marketplace.ts';
import { marketplaceErrors, OwnRefusal } from '../errors.ts';
import { MARKETPLACE_LIMITS } from '../limits.ts';
import { withShare } from '../market-slots.ts';
import { jobRecord, type StoredJob } from './job.ts';
import type { JobDeps } from './job-deps.ts';
import { findJob, findResult } from './job-store.ts';
import { readArchive } from './read-archive.ts';

/** Request for one job: the agent that asks, and the job's id. */
export type JobReading = {
  readonly agentId: number;
  readonly accountId: string;
  readonly vendor: string;
  readonly jobId: string;
  readonly signal: AbortSignal;
  readonly onOver?: OnOver | undefined;
};

type ReadDeps = Pick<JobDeps, 'sql' | 'address' | 'rooms'>;

/**
 * Returns a job of an agent in its present state, with the delivered text. Throws the refusal when the agent has no such job.
 */
export function readJob(deps: ReadDeps, reading: JobReading): Promise<MarketAnswer> {
  const { accountId, agentId, jobId: id, vendor } = reading;
  const { address, rooms, sql } = deps;
  const call = { ...reading, workId: undefined };
  return withShare(rooms.shareOf(accountId), call, async ({ share }) => {
    const job =
      id.length > MARKETPLACE_LIMITS.request.nameChars
        ? undefined
        : await findJob(sql, { id, agentId, vendor });
    if (job === undefined) {
      throw new OwnRefusal(marketplaceErrors.notFound('This agent has no such job.'));
    }
    const record = jobRecord(job, address.urlOf(`/v1/doc/${vendor}/${id}`));
    // The memory holds the stored archive, its base64 text and the answer at the same time.
    share.use((job.resultBytes ?? 0) * MARKETPLACE_LIMITS.sale.bytesInFlight.answer);
    const delivered = await deliveredOf(deps, job);
    share.use((delivered?.text.length ?? 0) * MARKETPLACE_LIMITS.sale.bytesInFlight.file);
    const pieces = await writeJsonInTurns({ result: { ...record, ...delivered } });
    return {
      status: 200,
      headers: { 'content-type': 'application/json' },
      body: await joinPieces(pieces),
      costRaw: 0n,
      payment: 'passthrough',
      upstreamMs: 0,
    };
  });
}

async function deliveredOf({ sql }: ReadDeps, { asked, id, resultBytes, step }: StoredJob) {
  if (step !== 'completed' || resultBytes === null) return undefined;
  const archive = await findResult(sql, id);
  const read = archive && (await readArchive(archive, asked.format));
  if (archive === undefined || read === undefined) return undefined;
  return {
    text: read.text,
    contentType: asked.format === 'md' ? 'text/markdown' : 'text/html',
    archiveBase64: archive.toString('base64'),
  };
}
