import type { Queryable } from '../../platform/postgres/sql.ts';
import { credentialErrors } from '../errors.ts';
import { hasRight, RIGHTS, type Right, type Role } from './role.ts';
import { findRole } from './role-store.ts';

/**
 * Returns the role of a wallet in an account. Throws 403 when the wallet is no member or the role lacks the right. Called in the
 * sql transaction of a change that a removed member must not make, behind a lock that the removal takes, too.
 */
export async function requireRole(
  tx: Queryable,
  { accountId, wallet }: { readonly accountId: string; readonly wallet: string },
  right: Right,
): Promise<Role> {
  const role = await findRole(tx, accountId, wallet);
  if (role === undefined) throw credentialErrors.foreignAccount();
  if (!hasRight(role, right)) throw credentialErrors.forbidden(role, RIGHTS[right]);
  return role;
}
