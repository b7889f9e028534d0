import { bigint, customType, timestamp } from 'drizzle-orm/pg-core';

/** An identifier: compared byte by byte, which a locale would make several times slower. */
export const id = customType<{ data: string }>({ dataType: () => 'text COLLATE "C"' });

export const bytea = customType<{ data: Buffer }>({ dataType: () => 'bytea' });

/** Raw USDC, and whatever else outgrows a number. */
export const raw = (name: string) => bigint(name, { mode: 'bigint' });

/** When something was or will be; null where it was not yet. */
export const instant = (name: string) => timestamp(name, { withTimezone: true });

/** When the row was written. */
export const now = (name: string) => instant(name).notNull().defaultNow();
