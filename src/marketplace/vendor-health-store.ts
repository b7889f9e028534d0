import type { Queryable } from '../platform/postgres/sql.ts';
import { MARKETPLACE_LIMITS } from './limits.ts';
import type { SoldLately } from './sale-health.ts';

/** Result of probing one vendor. */
export type VendorProbe = {
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

/**
 * Claims the vendor that was not probed for the longest time. Undefined when no vendor is due, or other processes probe the due
 * vendors.
 */
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
          or v.checked_at < now() - ${MARKETPLACE_LIMITS.health.probeEveryMs} * interval '1 millisecond')
      order by v.checked_at nulls first, v.vendor limit 1 for update skip locked)
    returning vendor`;
  return row?.vendor;
}

/**
 * Writes the result of a vendor's probe. When the vendor is down or up again by this probe, the event for all accounts is in
 * the same commit.
 */
export async function saveProbe(
  sql: Queryable,
  { excerpt, isOk, latencyMs, vendor }: VendorProbe,
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
          when v.failures + 1 >= ${MARKETPLACE_LIMITS.health.failuresUntilDown}::integer then 'down'
          else v.status end,
        latency_ms = ${latencyMs}, excerpt = ${excerpt}
      from before b where v.vendor = b.vendor
      returning v.status, b.status as was)
    insert into events (name, payload)
    select case status when 'down' then 'marketplace.vendor.degraded'
      else 'marketplace.vendor.recovered' end, ${payload}::text::jsonb
    from after where status <> was`;
}

/** Returns the health of all vendors that were probed, by name. */
export async function findHealth(sql: Queryable): Promise<readonly VendorHealth[]> {
  return sql<VendorHealth[]>`
    select vendor, status, checked_at as "checkedAt", latency_ms as "latencyMs", excerpt
    from marketplace_vendors where latency_ms is not null order by vendor`;
}

/** Stores the results of this process's sales since the last write, by vendor. */
export async function noteSales(sql: Queryable, sales: readonly SoldLately[]): Promise<void> {
  const list = JSON.stringify(sales);
  await sql`
    insert into marketplace_vendors as v (vendor, sold_at, sale_latency_ms, sale_failures)
    select vendor, now(), latency, failures
    from json_to_recordset(${list}::text::json)
      as x(vendor text, latency integer, failures integer, delivered boolean) order by vendor
    on conflict (vendor) do update set sold_at = now(), sale_latency_ms = excluded.sale_latency_ms,
      sale_failures = case when (select x.delivered from json_to_recordset(${list}::text::json)
          as x(vendor text, delivered boolean) where x.vendor = v.vendor)
        then excluded.sale_failures else v.sale_failures + excluded.sale_failures end`;
}

/** Returns the health of the vendors that have sold to agents within `salesCountMs`, by name. */
export async function findSales(sql: Queryable): Promise<readonly VendorHealth[]> {
  const { failuresUntilDown, salesCountMs } = MARKETPLACE_LIMITS.health;
  return sql<VendorHealth[]>`
    select vendor, case when sale_failures >= ${failuresUntilDown} then 'down' else 'ok' end as status,
      sold_at as "checkedAt", sale_latency_ms as "latencyMs", null as excerpt
    from marketplace_vendors
    where sold_at > now() - ${salesCountMs} * interval '1 millisecond' order by vendor`;
}
