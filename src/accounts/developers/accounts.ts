import { assert } from '../../kernel/assert.ts';
import { newAccountId } from '../../kernel/ids.ts';
import type { Random } from '../../kernel/random.ts';
import type { Sql } from '../../platform/postgres/sql.ts';
import type { Developer } from './developer.ts';
import { findDeveloper, insertDeveloper } from './developer-store.ts';

export type Accounts = ReturnType<typeof createAccounts>;

/** Accounts by wallet. There is no registration: the first proof of a wallet creates its account. */
export function createAccounts(deps: { readonly sql: Sql; readonly random: Random }) {
  return {
    /** Answers the one account of a wallet, created now if need be. */
    async ofWallet(wallet: string): Promise<Developer> {
      const known = await findDeveloper(deps.sql, wallet);
      if (known !== undefined) return known;
      await insertDeveloper(deps.sql, { accountId: newAccountId(deps.random), wallet });
      const created = await findDeveloper(deps.sql, wallet);
      assert(created !== undefined, 'an account that was inserted can be read');
      return created;
    },
  };
}
