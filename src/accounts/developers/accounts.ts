import { assert } from '../../kernel/assert.ts';
import { newAccountId } from '../../kernel/ids.ts';
import type { Random } from '../../kernel/random.ts';
import type { Sql } from '../../platform/postgres/sql.ts';
import type { Developer } from './developer.ts';
import { findDeveloper, findDeveloperOfAccount, insertDeveloper } from './developer-store.ts';

export type Accounts = ReturnType<typeof createAccounts>;

/**
 * Creates the accounts of developers, one for each wallet. There is no registration: the first sign-in of a wallet creates its
 * account.
 */
export function createAccounts(deps: { readonly sql: Sql; readonly random: Random }) {
  return {
    /** Returns the account of a wallet, and creates it when the wallet has none. */
    async ofWallet(wallet: string): Promise<Developer> {
      const known = await findDeveloper(deps.sql, wallet);
      if (known !== undefined) return known;
      await insertDeveloper(deps.sql, { accountId: newAccountId(deps.random), wallet });
      const created = await findDeveloper(deps.sql, wallet);
      assert(created !== undefined, 'an account that was inserted can be read');
      return created;
    },

    /** Returns an account by its id, which a credential has named. */
    async ofId(accountId: string): Promise<Developer> {
      const found = await findDeveloperOfAccount(deps.sql, accountId);
      assert(found !== undefined, 'a credential names an account that exists');
      return found;
    },
  };
}
