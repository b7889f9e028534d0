import { numberArray } from '../platform/postgres/pg-array.ts';
import type { Queryable } from '../platform/postgres/sql.ts';
import { memoryErrors } from './errors.ts';
import { MEMORY_LIMITS } from './limits.ts';
import type { MetadataSchema } from './memory-shape.ts';
import type { Space } from './space.ts';

type SpaceRow = Omit<Space, 'subTenant' | 'schema'> & {
  readonly subTenant: string;
  readonly schema: MetadataSchema | null;
};

const spaceOf = ({ schema, subTenant, ...row }: SpaceRow): Space => ({
  ...row,
  subTenant: subTenant === '' ? null : subTenant,
  schema: schema ?? {},
});

/** SQL columns of a space. The statement must alias the space as `s` and the default space of its store as `d`. */
const columns = (sql: Queryable) => sql`
  s.id, s.agent_id as "agentId", s.sub_tenant as "subTenant", s.model, s.dims,
  s.version::float8 as version, s.forgotten_version::float8 as "forgottenVersion",
  coalesce(s.schema, d.schema) as schema`;

/** Returns a namespace of an agent's store; undefined when nothing was stored there, or when the agent has no store. */
export async function findSpace(
  sql: Queryable,
  agentId: number,
  subTenant: string | null,
): Promise<Space | undefined> {
  const [row] = await sql<(SpaceRow | { readonly id: null })[]>`
    select ${columns(sql)} from memory_tenants t
    left join memory_spaces s on s.agent_id = t.agent_id and s.sub_tenant = ${subTenant ?? ''}
      and s.deleted_at is null
    left join memory_spaces d on d.agent_id = t.agent_id and d.sub_tenant = ''
      and d.deleted_at is null
    where t.agent_id = ${agentId}`;
  return row === undefined || row.id === null ? undefined : spaceOf(row as SpaceRow);
}

export type TenantSize = {
  readonly items: number;
  readonly bytes: number;
  readonly spaces: number;
};

/**
 * Locks an agent's store until the sql transaction ends, and creates it when it does not exist. Throws `tenant_not_found` when
 * the agent was closed meanwhile, because its store is deleted for good.
 */
export async function lockOrMakeTenant(tx: Queryable, agentId: number): Promise<TenantSize> {
  // Closing an agent deletes this row, so an existing row belongs to a living agent.
  const [known] = await tx<TenantSize[]>`
    select items, bytes::float8 as bytes, spaces from memory_tenants where agent_id = ${agentId} for update`;
  if (known !== undefined) return known;
  // Not `for share`: new sharers would overtake a commit that waits to close the agent, and that commit would wait for all of
  // them.
  const [tenant] = await tx<TenantSize[]>`
    with living as (
      select id from agents where id = ${agentId} and status <> 'closed' for no key update)
    insert into memory_tenants (agent_id) select id from living
    on conflict (agent_id) do update set agent_id = excluded.agent_id
    returning items, bytes::float8 as bytes, spaces`;
  if (tenant === undefined) throw memoryErrors.tenantNotFound();
  return tenant;
}

/** Locks an agent's store until the sql transaction ends. Resolves to false when the agent has no store. */
export async function lockTenant(tx: Queryable, agentId: number): Promise<boolean> {
  const rows = await tx`select 1 from memory_tenants where agent_id = ${agentId} for update`;
  return rows.length > 0;
}

/** Returns a namespace, and creates it when it does not exist. The caller has locked the store. Throws `memory_full`. */
export async function findOrMakeSpace(
  tx: Queryable,
  wanted: {
    readonly agentId: number;
    readonly subTenant: string | null;
    readonly model: string;
    readonly dims: number;
    /** Number of namespaces in the store now. */
    readonly spaces: number;
  },
): Promise<Space> {
  const { agentId, dims, model, spaces, subTenant } = wanted;
  const found = await findSpace(tx, agentId, subTenant);
  if (found !== undefined) return found;
  const { spaces: spacesPerAgent } = MEMORY_LIMITS.agent;
  if (spaces >= spacesPerAgent) throw memoryErrors.full('sub-tenants', spacesPerAgent);
  await tx`insert into memory_spaces (agent_id, sub_tenant, model, dims)
    values (${agentId}, ${subTenant ?? ''}, ${model}, ${dims})`;
  await tx`update memory_tenants set spaces = spaces + 1 where agent_id = ${agentId}`;
  const made = await findSpace(tx, agentId, subTenant);
  if (made === undefined) throw new Error('a namespace that was just made is not there');
  return made;
}

export async function saveSchema(
  tx: Queryable,
  spaceId: number,
  schema: MetadataSchema,
): Promise<void> {
  await tx`update memory_spaces set schema = ${JSON.stringify(schema)}::text::jsonb
    where id = ${spaceId}`;
}

export async function countItems(
  sql: Queryable,
  agentId: number,
): Promise<{ readonly memories: number; readonly knowledge: number } | undefined> {
  const [row] = await sql<{ memories: number; knowledge: number }[]>`
    select items - knowledge as memories, knowledge from memory_tenants
    where agent_id = ${agentId}`;
  return row;
}

/**
 * Deletes an agent's store: from the commit on no request finds anything of it, and its contents are swept later. Returns its
 * namespaces; undefined when the agent has no store.
 */
export async function removeTenant(
  tx: Queryable,
  agentId: number,
): Promise<readonly number[] | undefined> {
  if (!(await lockTenant(tx, agentId))) return undefined;
  const spaces = await tx<{ id: number }[]>`
    update memory_spaces set deleted_at = now() where agent_id = ${agentId} and deleted_at is null
    returning id`;
  await tx`delete from memory_tenants where agent_id = ${agentId}`;
  return spaces.map(({ id }) => id);
}

/**
 * Deletes some of the contents of deleted namespaces, of all of them or of `spaces`. Resolves to false when nothing was left
 * that no other process deletes.
 */
export async function sweepDeleted(sql: Queryable, spaces?: readonly number[]): Promise<boolean> {
  const some = spaces === undefined ? sql`` : sql`and s.id = any(${numberArray(spaces)}::int[])`;
  const items = await sql`
    with doomed as (
      select i.id from memory_spaces s, lateral (
        select id from memory_items where space_id = s.id
        limit ${MEMORY_LIMITS.sweep.items} for update skip locked) i
      where s.deleted_at is not null ${some} limit ${MEMORY_LIMITS.sweep.items})
    delete from memory_items i using doomed where i.id = doomed.id`;
  if (items.count > 0) return true;
  const swept = await sql`
    with emptied as (
      delete from memory_spaces s where s.deleted_at is not null ${some}
        and not exists (select 1 from memory_items i where i.space_id = s.id)
      returning id),
    forgotten as (delete from memory_removals r using emptied where r.space_id = emptied.id)
    select id from emptied`;
  return swept.length > 0;
}
