import { storableJson } from '../../kernel/storable.ts';
import type { Queryable, Sql } from '../../platform/postgres/sql.ts';
import { MARKETPLACE_LIMITS } from '../limits.ts';
import {
  type ClaimedJob,
  failedVerdict,
  INTERRUPTED,
  type JobRequest,
  type JobVerdict,
  type StoredJob,
} from './job.ts';

/** A process's claim on a job. A write with an old epoch changes nothing, since another process has taken the job over. */
type Claim = Pick<ClaimedJob, 'id' | 'epoch'>;

const ms = (sql: Queryable, count: number) => sql`(${count} * interval '1 millisecond')`;

export type NewJob = {
  readonly id: string;
  readonly agentId: number;
  readonly accountId: string;
  readonly vendor: string;
  readonly asked: JobRequest;
  readonly pagesHeld: number;
  readonly heldRaw: bigint;
};

/**
 * Inserts a job before its caller gets the id. Returns false when the agent or its account has its limit of unfinished jobs.
 */
export async function insertJob(sql: Sql, job: NewJob): Promise<boolean> {
  const { jobsPerAccount, jobsPerAgent, leaseMs, lifeMs } = MARKETPLACE_LIMITS.documents;
  return sql.begin(async (tx) => {
    // The lock lets one job of an account be counted at a time.
    await tx`select pg_advisory_xact_lock(hashtextextended(${`jobs of ${job.accountId}`}, 0))`;
    const rows = await tx`
      insert into marketplace_jobs
        (id, agent_id, account_id, vendor, asked, pages_held, held_raw, due_at, deadline_at)
      select ${job.id}, ${job.agentId}, ${job.accountId}, ${job.vendor},
        ${JSON.stringify(job.asked)}::text::jsonb, ${job.pagesHeld}, ${job.heldRaw.toString()}::bigint,
        now() + ${ms(tx, leaseMs)}, now() + ${ms(tx, lifeMs)}
      from (select count(*) as living, count(*) filter (where agent_id = ${job.agentId}) as own
        from marketplace_jobs where account_id = ${job.accountId} and ended_at is null) c
      where c.living < ${jobsPerAccount} and c.own < ${jobsPerAgent}
      returning 1 as one`;
    return rows.length === 1;
  }) as Promise<boolean>;
}

/**
 * Withdraws a job that was not accepted. The verdict is stored with the job, in case this process is lost before it releases
 * the hold. False when the job is queued after all, or another process has taken over the job and its hold.
 */
export const withdrawJob = (sql: Queryable, id: string): Promise<boolean> =>
  moved(sql`
    update marketplace_jobs
    set step = 'ending', verdict = ${JSON.stringify(failedVerdict(INTERRUPTED))}::text::jsonb
    where id = ${id} and step = 'submitting' and epoch = 0 returning 1 as one`);

/** Deletes a job without a hold whose caller never got the id, unless another process has taken the job over. */
export async function deleteJob(sql: Queryable, id: string): Promise<void> {
  await sql`
    delete from marketplace_jobs
    where id = ${id} and step in ('submitting', 'ending') and vendor_job_id is null and epoch = 0`;
}

/** Queues a job: from now on any process can go on with the job. False when another process has given the job up meanwhile. */
export async function queueJob(sql: Queryable, id: string, vendorJobId: string): Promise<boolean> {
  const rows = await sql`
    update marketplace_jobs set step = 'queued', vendor_job_id = ${vendorJobId}, due_at = now()
    where id = ${id} and step = 'submitting' and epoch = 0 returning 1 as one`;
  return rows.length === 1;
}

/** Claims due jobs, the longest due first. */
export async function claimJobs(sql: Queryable, limit: number): Promise<ClaimedJob[]> {
  const { leaseMs, startUndecidedMs } = MARKETPLACE_LIMITS.documents;
  return sql<ClaimedJob[]>`
    with due as (
      select id from marketplace_jobs where due_at <= now() and ended_at is null
      order by due_at limit ${limit} for update skip locked)
    update marketplace_jobs j set epoch = j.epoch + 1, due_at = now() + ${ms(sql, leaseMs)}
    from due where j.id = due.id
    returning j.id, j.epoch, j.agent_id as "agentId", j.account_id as "accountId", j.vendor, j.step,
      j.asked, j.pages_held as "pagesHeld", j.held_raw as "heldRaw",
      j.vendor_job_id as "vendorJobId", j.looks, j.verdict, j.deadline_at <= now() as "isOverdue",
      coalesce(j.started_at <= now() - ${ms(sql, startUndecidedMs)}, false) as "isStartOverdue",
      (extract(epoch from now() - j.created_at) * 1000)::float8 as "ageMs"`;
}

/** Marks a job as starting, before the request that starts it at the vendor is sent. */
export const beginStart = (sql: Queryable, job: Claim): Promise<boolean> =>
  moved(sql`
    update marketplace_jobs set step = 'starting', started_at = now()
    where id = ${job.id} and epoch = ${job.epoch} and step = 'queued' returning 1 as one`);

/** Undoes a start that the vendor refused, so that the job has not begun there: a later look starts the job again. */
export const undoStart = (sql: Queryable, job: Claim, waitMs: number): Promise<boolean> =>
  moved(sql`
    update marketplace_jobs set step = 'queued', started_at = null, looks = looks + 1,
      due_at = now() + ${ms(sql, waitMs)}
    where id = ${job.id} and epoch = ${job.epoch} and step = 'starting' returning 1 as one`);

/**
 * Releases the claim on a job, which is due again after `waitMs`. `isRunning`: the vendor has reported that the job has begun.
 */
export const lookAgain = (
  sql: Queryable,
  job: Claim,
  { isRunning, waitMs }: { readonly isRunning: boolean; readonly waitMs: number },
): Promise<boolean> =>
  moved(sql`
    update marketplace_jobs
    set step = case when ${isRunning}::boolean then 'running' else step end, looks = looks + 1,
      due_at = now() + ${ms(sql, waitMs)}
    where id = ${job.id} and epoch = ${job.epoch} and step in ('queued', 'starting', 'running')
    returning 1 as one`);

/** Writes the verdict of a job, with the delivery. A written verdict stands. */
export const decideJob = (
  sql: Queryable,
  job: Claim,
  verdict: JobVerdict,
  result: Buffer | null,
): Promise<boolean> =>
  moved(sql`
    update marketplace_jobs
    set step = 'ending', verdict = ${storableJson(verdict)}::text::jsonb, result = ${result}
    where id = ${job.id} and epoch = ${job.epoch}
      and step in ('submitting', 'queued', 'starting', 'running') returning 1 as one`);

/** Ends a job that was settled. Returns false when another process has ended the job. */
export const finishJob = (
  tx: Queryable,
  job: Claim,
  { costRaw, status }: { readonly costRaw: bigint; readonly status: JobVerdict['status'] },
): Promise<boolean> => {
  const { keptMs, resultKeptMs } = MARKETPLACE_LIMITS.documents;
  return moved(tx`
    update marketplace_jobs
    set step = ${status}, cost_raw = ${costRaw.toString()}::bigint, ended_at = now(),
      due_at = now() + case when result is null then ${ms(tx, keptMs)} else ${ms(tx, resultKeptMs)} end,
      result_until = case when result is null then null else now() + ${ms(tx, resultKeptMs)} end
    where id = ${job.id} and epoch = ${job.epoch} and step = 'ending' returning 1 as one`);
};

const moved = async (rows: PromiseLike<readonly unknown[]>): Promise<boolean> =>
  (await rows).length === 1;

export async function findJob(
  sql: Queryable,
  { agentId, id, vendor }: Pick<ClaimedJob, 'id' | 'agentId' | 'vendor'>,
): Promise<StoredJob | undefined> {
  const [row] = await sql<StoredJob[]>`
    select id, vendor, step, asked, pages_held as "pagesHeld", held_raw as "heldRaw", verdict,
      vendor_job_id is not null as "isAccepted", cost_raw as "costRaw", octet_length(result) as "resultBytes", result_until as "resultUntil",
      created_at as "createdAt", started_at as "startedAt", ended_at as "endedAt"
    from marketplace_jobs where id = ${id} and agent_id = ${agentId} and vendor = ${vendor}`;
  return row;
}

export async function findResult(sql: Queryable, id: string): Promise<Buffer | undefined> {
  const [row] = await sql<{ result: Buffer | null }[]>`
    select result from marketplace_jobs where id = ${id} and ended_at is not null`;
  return row?.result ?? undefined;
}

/** Deletes expired results and expired jobs, at most `limit` rows together. */
export async function forgetJobs(sql: Queryable, limit: number): Promise<void> {
  const { keptMs } = MARKETPLACE_LIMITS.documents;
  await sql`
    with old as (
      select id, result is null as is_bare from marketplace_jobs
      where due_at <= now() and ended_at is not null
      order by due_at limit ${limit} for update skip locked
    ), gone as (
      delete from marketplace_jobs j using old where j.id = old.id and old.is_bare)
    update marketplace_jobs j set result = null, due_at = j.ended_at + ${ms(sql, keptMs)}
    from old where j.id = old.id and not old.is_bare`;
}
