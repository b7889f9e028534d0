import { numberArray, textArray } from '../../../platform/postgres/pg-array.ts';
import type { Queryable } from '../../../platform/postgres/sql.ts';
import { RESPONSES_LIMITS } from '../limits.ts';

/** First number of the advisory lock for trims; the second number is the agent's id. */
const TRIM_LOCK = 0x7265_7370;

export type NewResponse = {
  readonly id: string;
  readonly agentId: number;
  readonly previousId: string | null;
  readonly itemIds: readonly string[];
  readonly sealed: Uint8Array;
  readonly keptDays: number;
};

/** Stored response without its content. */
export type ResponseRef = {
  readonly id: string;
  readonly previousId: string | null;
  readonly bytes: number;
};

/**
 * Inserts all rows or none. Leaves out the rows of closed agents, who cannot read or delete responses: the statement waits for
 * a transaction that is closing an agent. The contents are sent as one base64 text, because the driver writes no `bytea[]`, and
 * two characters for each byte of a `bytea`. A subquery makes PostgreSQL decode the text once and not for each row.
 */
export async function insertResponses(sql: Queryable, rows: readonly NewResponse[]): Promise<void> {
  const column = <T>(of: (row: NewResponse) => T) => rows.map(of);
  const agentIds = column(({ agentId }) => agentId);
  const lengths = column(({ sealed }) => sealed.length);
  const begins: number[] = [];
  let begin = 1;
  for (const length of lengths) {
    begins.push(begin);
    begin += length;
  }
  const sealed = Buffer.concat(column((row) => row.sealed));
  await sql`
    insert into model_responses (id, agent_id, previous_id, item_ids, bytes, sealed, expires_at)
    select r.id, r.agent_id, r.previous_id, r.item_ids::text[], r.bytes,
      substring((select decode(${sealed.toString('base64')}::text, 'base64')) from r.begin for r.bytes),
      now() + make_interval(days => r.days)
    from unnest(${textArray(column(({ id }) => id))}::text[],
      ${numberArray(agentIds)}::integer[],
      ${textArray(column(({ previousId }) => previousId))}::text[],
      ${textArray(column(({ itemIds }) => textArray(itemIds)))}::text[],
      ${numberArray(lengths)}::integer[],
      ${numberArray(begins)}::integer[],
      ${numberArray(column(({ keptDays }) => keptDays))}::integer[]
    ) as r (id, agent_id, previous_id, item_ids, bytes, begin, days)
    join (
      select id from agents where id = any(${numberArray(agentIds)}::integer[]) and status <> 'closed'
      order by id for share
    ) agent on agent.id = r.agent_id`;
}

/**
 * Deletes an agent's responses beyond its bounds, the least recently used first. One such statement of an agent runs at a time,
 * since two would lock the same rows in different orders. It finds the latest row beyond the bounds in the snapshot from before
 * it waited for that lock, and deletes that row and all rows used before it. A row used meanwhile has a later `expires_at` and
 * is not deleted; nor is another row in its place, until the next run. For a row that the caller deleted meanwhile, one row too
 * many is deleted.
 */
export async function deleteBeyondBounds(sql: Queryable, agentId: number): Promise<void> {
  const { bytesPerAgent, perAgent } = RESPONSES_LIMITS.kept;
  await sql`
    with beyond as materialized (
      select expires_at, id from (
        select expires_at, id, row_number() over latest as place, sum(bytes) over latest as total
        from model_responses where agent_id = ${agentId}
        window latest as (order by expires_at desc, id desc rows unbounded preceding)
      ) ranked
      where (place > ${perAgent} or total > ${bytesPerAgent})
        and (select pg_advisory_xact_lock(${TRIM_LOCK}, ${agentId}) is not null)
      order by expires_at desc, id desc limit 1)
    delete from model_responses r using beyond
    where r.agent_id = ${agentId} and (r.expires_at, r.id) <= (beyond.expires_at, beyond.id)`;
}

/** Reads the sealed content of an agent's responses, by their ids. */
export async function findSealed(
  sql: Queryable,
  agentId: number,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Uint8Array>> {
  const rows = await sql<{ id: string; sealed: Uint8Array }[]>`
    select id, sealed from model_responses
    where id = any(${textArray(ids)}::text[]) and agent_id = ${agentId} and expires_at > now()`;
  return new Map(rows.map(({ id, sealed }) => [id, sealed]));
}

/**
 * Reads a response and the kept responses that it continues, up to `RESPONSES_LIMITS.kept.chain`. The response itself comes first.
 */
export async function findChain(
  sql: Queryable,
  agentId: number,
  id: string,
): Promise<ResponseRef[]> {
  return sql<ResponseRef[]>`
    with recursive chain as (
      select id, previous_id, bytes, 1 as depth from model_responses
      where id = ${id} and agent_id = ${agentId} and expires_at > now()
      union all
      select r.id, r.previous_id, r.bytes, c.depth + 1
      from chain c join model_responses r on r.id = c.previous_id
      where r.agent_id = ${agentId} and r.expires_at > now() and c.depth < ${RESPONSES_LIMITS.kept.chain}
    )
    select id, previous_id as "previousId", bytes from chain order by depth`;
}

/**
 * Finds, for each item id, the response of the agent that has the item in its output. Of several responses it takes the last to
 * expire.
 */
export async function findHolders(
  sql: Queryable,
  agentId: number,
  itemIds: readonly string[],
): Promise<(Pick<ResponseRef, 'id' | 'bytes'> & { readonly itemId: string })[]> {
  const wanted = textArray(itemIds);
  return sql`
    select distinct on (item.id) item.id as "itemId", r.id, r.bytes
    from model_responses r cross join lateral unnest(r.item_ids) item (id)
    where r.agent_id = ${agentId} and r.expires_at > now()
      and r.item_ids && ${wanted}::text[] and item.id = any(${wanted}::text[])
    order by item.id, r.expires_at desc`;
}

/**
 * Extends the expiry of responses by `keptDays` from now, unless it was extended within the last
 * `RESPONSES_LIMITS.kept.renewedAfterMinutes`.
 */
export async function renewResponses(
  sql: Queryable,
  agentId: number,
  ids: readonly string[],
  keptDays: number,
): Promise<void> {
  const lately = RESPONSES_LIMITS.kept.renewedAfterMinutes;
  await sql`
    update model_responses set expires_at = now() + make_interval(days => ${keptDays}::integer)
    where id = any(${textArray(ids)}::text[]) and agent_id = ${agentId}
      and expires_at < now() + make_interval(days => ${keptDays}::integer, mins => ${-lately}::integer)`;
}

export async function deleteResponse(
  sql: Queryable,
  agentId: number,
  id: string,
): Promise<boolean> {
  const rows = await sql`
    delete from model_responses
    where id = ${id} and agent_id = ${agentId} and expires_at > now() returning id`;
  return rows.length > 0;
}

/** Deletes responses by their ids, which are unique across agents. */
export async function deleteResponses(sql: Queryable, ids: readonly string[]): Promise<void> {
  await sql`delete from model_responses where id = any(${textArray(ids)}::text[])`;
}

/** Deletes all responses of an agent. */
export async function deleteResponsesOf(sql: Queryable, agentId: number): Promise<void> {
  await sql`delete from model_responses where agent_id = ${agentId}`;
}

/** Deletes up to `most` expired responses, and returns their number. Concurrent processes delete different rows. */
export async function deleteExpired(sql: Queryable, most: number): Promise<number> {
  const rows = await sql`
    delete from model_responses where id in (
      select id from model_responses where expires_at <= now()
      order by expires_at limit ${most} for update skip locked) returning id`;
  return rows.length;
}
