import type { Queryable } from '../../platform/postgres/sql.ts';
import type { Role } from './role.ts';

/** Returns the role of a wallet in an account. Undefined when the wallet is no member, or there is no such account. */
export async function findRole(
  sql: Queryable,
  accountId: string,
  wallet: string,
): Promise<Role | undefined> {
  const [row] = await sql<{ role: Role | null }[]>`
    select case when d.wallet = ${wallet} then 'owner' else m.role end as role
    from developers d
      left join members m on m.account_id = d.account_id and m.wallet = ${wallet}
    where d.account_id = ${accountId}
  `;
  return row?.role ?? undefined;
}
