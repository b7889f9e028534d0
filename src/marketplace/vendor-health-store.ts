import { LIMITS } from '../kernel/limits.ts';
import type { Queryable } from '../platform/postgres/sql.ts';

/** How a vendor did when it was tried. */
export type Probed = {
  readonly vendor: string;
  readonly isOk: boolean;
  readonly latencyMs: number;
  readonly excerpt: string | null;
};

export type VendorHealth = {
  readonly vendor: string;
  readonly status: 'ok' | 'down';
  readonly checkedAt: Date;
  readonly latencyMs: number;
  readonly excerpt: string | null;
};

/** Claims the vendor that has not been tried for longest, and for long. Undefined: none is due, or others try them. */
export async function claimProbe(
  sql: Queryable,
  vendors: readonly string[],
): Promise<string | undefined> {
  const names = JSON.stringify(vendors);
  await sql`
    insert into marketplace_vendors (vendor)
    select json_array_elements_text(${names}::text::json) on conflict do nothing`;
  const [row] = await sql<{ vendor: string }[]>`
    update marketplace_vendors set checked_at = now() where vendor = (
      select v.vendor from marketplace_vendors v
      where v.vendor in (select json_array_elements_text(${names}::text::json))
        and (v.checked_at is null
          or v.checked_at < now() - ${LIMITS.marketplace.probeEveryMs} * interval '1 millisecond')
      order by v.checked_at nulls first, v.vendor limit 1 for update skip locked)
    returning vendor`;
  return row?.vendor;
}

/** Writes how a vendor did. Where it is down or up again by that, the event for all accounts is in the same commit. */
export async function saveProbe(
  sql: Queryable,
  { excerpt, isOk, latencyMs, vendor }: Probed,
  event: { readonly endpoint: string; readonly checkedAt: string },
): Promise<void> {
  const payload = JSON.stringify({ vendor, ...event });
  await sql`
    with before as (
      select vendor, status from marketplace_vendors where vendor = ${vendor} for update),
    after as (
      update marketplace_vendors v
      set failures = case when ${isOk}::boolean then 0 else v.failures + 1 end,
        status = case when ${isOk}::boolean then 'ok'
          when v.failures + 1 >= ${LIMITS.marketplace.failuresUntilDown}::integer then 'down'
          else v.status end,
        latency_ms = ${latencyMs}, excerpt = ${excerpt}
      from before b where v.vendor = b.vendor
      returning v.status, b.status as was)
    insert into events (name, payload)
    select case status when 'down' then 'marketplace.vendor.degraded'
      else 'marketplace.vendor.recovered' end, ${payload}::text::jsonb
    from after where status <> was`;
}

/** The vendors that were tried, by name. */
export async function findHealth(sql: Queryable): Promise<readonly VendorHealth[]> {
  return sql<VendorHealth[]>`
    select vendor, status, checked_at as "checkedAt", latency_ms as "latencyMs", excerpt
    from marketplace_vendors where latency_ms is not null order by vendor`;
}
