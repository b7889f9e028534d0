import { sql } from 'drizzle-orm';
import { check, integer, pgTable, text } from 'drizzle-orm/pg-core';
import { id, instant } from '../columns.ts';

/** How each vendor of the marketplace did when it was tried last, by whichever process. */
export const marketplaceVendors = pgTable(
  'marketplace_vendors',
  {
    vendor: id('vendor').primaryKey(),
    status: text('status').notNull().default('ok'),
    /** In a row. */
    failures: integer('failures').notNull().default(0),
    /** When a process began to try it, which keeps the others from it; null: it was never tried. */
    checkedAt: instant('checked_at'),
    /** Null while the first try is under way. */
    latencyMs: integer('latency_ms'),
    excerpt: text('excerpt'),
  },
  (table) => [check('marketplace_vendors_status', sql`${table.status} in ('ok', 'down')`)],
);
