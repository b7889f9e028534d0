import type { Sql } from '../../platform/postgres/sql.ts';
import { E164 } from '../e164.ts';
import { phoneErrors } from '../errors.ts';
import { PHONE_LIMITS } from '../limits.ts';
import {
  type DoNotCallEntry,
  deleteEntry,
  findEntries,
  findEntry,
  insertEntry,
  lockEntries,
} from './do-not-call-store.ts';

export type DoNotCallPage = {
  readonly entries: readonly DoNotCallEntry[];
  /** Last number of the page, after which the next page begins. Undefined on the last page. */
  readonly next: string | undefined;
};

export type DoNotCall = ReturnType<typeof createDoNotCall>;

/** Creates the do-not-call lists of all accounts. */
export function createDoNotCall({ sql }: { readonly sql: Sql }) {
  return {
    /** Returns a page of the list, sorted by number. */
    async list(
      accountId: string,
      { after, limit }: { readonly after?: string | undefined; readonly limit: number },
    ): Promise<DoNotCallPage> {
      const page = { after: after ?? '', limit: limit + 1 };
      const found = await findEntries(sql, accountId, page);
      const entries = found.slice(0, limit);
      const next = found.length > limit ? entries.at(-1)?.phoneNumber : undefined;
      return { entries, next };
    },

    /** Returns the entry of a number, new or existing. Throws when the number is malformed or the list is full. */
    async add(accountId: string, phoneNumber: string): Promise<DoNotCallEntry> {
      const number = requireNumber(phoneNumber);
      const entry = await sql.begin(async (tx) => {
        await lockEntries(tx, accountId);
        return insertEntry(tx, accountId, number);
      });
      if (entry === undefined) throw phoneErrors.doNotCallFull(PHONE_LIMITS.doNotCall.entries);
      return entry;
    },

    /** Removes a number from the list. Throws when the number is not on the list. */
    async remove(accountId: string, phoneNumber: string): Promise<void> {
      const number = requireNumber(phoneNumber);
      if (!(await deleteEntry(sql, accountId, number))) throw phoneErrors.doNotCallNotFound();
    },

    /** Returns true when the account must not call this number. */
    async has(accountId: string, phoneNumber: string): Promise<boolean> {
      return (await findEntry(sql, accountId, phoneNumber)) !== undefined;
    },
  };
}

function requireNumber(phoneNumber: string): string {
  if (!E164.test(phoneNumber)) throw phoneErrors.invalidDoNotCallNumber();
  return phoneNumber;
}
