import type { Queryable } from '../../platform/postgres/sql.ts';
import type { Policy } from '../../policy/policy.ts';
import { bucketAt, bucketStartMs, bucketsOf } from '../../policy/window.ts';

/** Owner of a policy: one agent, or (with `agentId` null) all agents of the account together. */
export type PolicyOwner = { readonly accountId: string; readonly agentId: number | null };

/** The fields of a policy that decide which charges count under it. */
export type Counted = Pick<
  Policy,
  'kind' | 'matchKey' | 'matchKind' | 'window' | 'effectiveFromSec'
> & {
  /** Unix milliseconds of the policy's start. Charges that were settled before do not count. */
  readonly startsAtMs: number;
};

export type SettledLine = { readonly bucket: number; readonly amountRaw: bigint };

/** Settled amounts by bucket, up to one charge of each agent. Later charges are still to be added. */
export type History = {
  readonly of: Counted;
  readonly head: number;
  readonly upTo: readonly (readonly [agentId: number, chargeId: bigint])[];
  readonly settled: readonly SettledLine[];
};

/**
 * Sums the charges that count under a policy before it is written, without a lock, because a long history takes seconds. An
 * agent's charges are numbered in the order of their commits, so later charges have higher numbers.
 */
export async function readHistory(
  sql: Queryable,
  owner: PolicyOwner,
  of: Counted,
  nowMs: number,
): Promise<History> {
  const rows = await sql<{ agent_id: number; id: bigint }[]>`
    select f.agent_id, coalesce((
      select c.id from charges c where c.agent_id = f.agent_id order by c.id desc limit 1), 0) as id
    from agent_funds f
    where f.account_id = ${owner.accountId}
      and f.agent_id = coalesce(${owner.agentId}::integer, f.agent_id)`;
  const head = bucketAt(of, nowMs);
  const upTo = rows.map((row) => [row.agent_id, row.id] as const);
  return { of, head, upTo, settled: await sumUpTo(sql, of, head, upTo) };
}

/**
 * Returns the settled sums of a history that is read now. When `known` is of the same policy and period, reads only the charges
 * after it.
 */
export async function readSettled(
  tx: Queryable,
  owner: PolicyOwner,
  of: Counted,
  nowMs: number,
  known: History | undefined,
): Promise<readonly SettledLine[]> {
  const head = bucketAt(of, nowMs);
  const reported = await sumReported(tx, owner, of, head);
  if (known === undefined || !isSame(known, of, head)) {
    return [...reported, ...(await readHistory(tx, owner, of, nowMs)).settled];
  }
  return [...reported, ...known.settled, ...(await sumAfter(tx, owner, of, head, known.upTo))];
}

/** Sums the calls that voice platforms have reported. They are few beside charges, so all are read under the locks. */
async function sumReported(
  tx: Queryable,
  owner: PolicyOwner,
  of: Counted,
  head: number,
): Promise<SettledLine[]> {
  const rows = await tx<Row[]>`
    select floor(extract(epoch from e.at) * 1000 / ${bucketMsText(of, head)}::bigint)::text as bucket,
      sum(e.cost_raw)::text as amount
    from agent_funds f join reconciled_events e on e.agent_id = f.agent_id and e.source <> 'guard'
    where f.account_id = ${owner.accountId}
      and f.agent_id = coalesce(${owner.agentId}::integer, f.agent_id)
      and e.at >= to_timestamp(${String(sinceMs(of, head))}::float8 / 1000)
      and policy_matches(${of.kind}, ${of.matchKey}, ${of.matchKind}, null, e.task_id, e.model_or_tool, null)
    group by 1`;
  return settledOf(rows, of, head);
}

/** Returns true when a history is of the same policy and period. A window of one bucket changes when its period is over. */
function isSame({ of: before, head: headBefore }: History, of: Counted, head: number): boolean {
  const isOther = bucketsOf(of.window) === 1 && head !== headBefore;
  return !isOther && JSON.stringify(before) === JSON.stringify(of);
}

/** Returns the first instant that counts. A rolling window reaches back to its oldest bucket. */
function sinceMs(of: Counted, head: number): number {
  const oldest = bucketStartMs(of.window, Math.max(0, head - bucketsOf(of.window) + 1));
  // Bucket 1 of a once or session policy is the time since the policy took effect; bucket 0 is the time before.
  const effective = oldest === undefined ? (of.effectiveFromSec ?? 0) * 1_000 * head : oldest;
  return Math.max(of.startsAtMs, effective, 0);
}

/**
 * Returns the width of a bucket in milliseconds. Undefined when the window has one bucket, so that only the present bucket
 * counts.
 */
function bucketMsOf(of: Counted, head: number): number | undefined {
  const [first, second] = [bucketStartMs(of.window, head), bucketStartMs(of.window, head + 1)];
  const isOne = bucketsOf(of.window) === 1 || first === undefined || second === undefined;
  return isOne ? undefined : second - first;
}

type Row = { bucket: string; amount: string };

const settledOf = (rows: readonly Row[], of: Counted, head: number): SettledLine[] =>
  rows.map((row) => ({
    bucket: bucketMsOf(of, head) === undefined ? head : Math.min(Number(row.bucket), head),
    amountRaw: BigInt(row.amount),
  }));

const bucketMsText = (of: Counted, head: number): string =>
  String(bucketMsOf(of, head) ?? Number.MAX_SAFE_INTEGER);

/** Returns SQL for the bucket's number, and for the condition that a charge counts. */
function conditions(sql: Queryable, of: Counted, head: number) {
  const bucketMs = bucketMsText(of, head);
  const since = String(sinceMs(of, head));
  return {
    bucket: sql`floor(extract(epoch from c.created_at) * 1000 / ${bucketMs}::bigint)::text`,
    counts: sql`c.created_at >= to_timestamp(${since}::float8 / 1000) and c.cost_raw > 0
      and policy_matches(${of.kind}, ${of.matchKey}, ${of.matchKind}, coalesce(k.root_id, k.id),
        c.task_id, c.target_host, c.payee)`,
  };
}

async function sumUpTo(
  sql: Queryable,
  of: Counted,
  head: number,
  upTo: History['upTo'],
): Promise<SettledLine[]> {
  const { bucket, counts } = conditions(sql, of, head);
  const rows = await sql<Row[]>`
    select ${bucket} as bucket, sum(c.cost_raw)::text as amount
    from unnest(${upTo.map(([agentId]) => String(agentId))}::integer[],
        ${upTo.map(([, id]) => String(id))}::bigint[]) as u(agent, id)
      join charges c on c.agent_id = u.agent and c.id <= u.id
      left join agent_keys k on k.id = c.key_id
    where ${counts} group by 1`;
  return settledOf(rows, of, head);
}

async function sumAfter(
  tx: Queryable,
  owner: PolicyOwner,
  of: Counted,
  head: number,
  upTo: History['upTo'],
): Promise<SettledLine[]> {
  const { bucket, counts } = conditions(tx, of, head);
  const rows = await tx<Row[]>`
    select ${bucket} as bucket, sum(c.cost_raw)::text as amount
    from agent_funds f
      left join unnest(${upTo.map(([agentId]) => String(agentId))}::integer[],
        ${upTo.map(([, id]) => String(id))}::bigint[]) as u(agent, id) on u.agent = f.agent_id
      -- The order makes the index of the numbers the way to them, and not that of the times.
      cross join lateral (
        select * from charges n where n.agent_id = f.agent_id and n.id > coalesce(u.id, 0)
        order by n.id desc limit 9223372036854775807) as c
      left join agent_keys k on k.id = c.key_id
    where f.account_id = ${owner.accountId}
      and f.agent_id = coalesce(${owner.agentId}::integer, f.agent_id) and ${counts}
    group by 1`;
  return settledOf(rows, of, head);
}
