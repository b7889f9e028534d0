import { credentialErrors } from '../../accounts/errors.ts';
import { BRAND } from '../../kernel/ids.ts';
import type { DeveloperCaller } from '../route/caller.ts';
import type { Credentials } from './credentials.ts';
import { readCookie } from './session-cookie.ts';

const ACCOUNT_ID = /^acct_[0-9a-f]{12}$/;

/**
 * Returns the caller as a member of the account that the header `X-Svc-Account` selects, or else the cookie `svc_account`; without
 * either the caller stays as it is. Throws 403 when the wallet is no member of that account.
 */
export async function selectAccount(
  credentials: Pick<Credentials, 'roleIn'>,
  caller: DeveloperCaller,
  headers: ReadonlyMap<string, string>,
): Promise<DeveloperCaller> {
  const accountId = selected(caller, headers);
  if (accountId === undefined || accountId === caller.accountId) return caller;
  // A developer key belongs to one account, whatever its issuer is a member of.
  if (caller.via === 'developer_key') throw credentialErrors.foreignAccount();
  const isId = ACCOUNT_ID.test(accountId);
  const role = isId ? await credentials.roleIn(accountId, caller.wallet) : undefined;
  if (role === undefined) throw credentialErrors.foreignAccount();
  return { ...caller, accountId, role };
}

function selected(
  { via }: DeveloperCaller,
  headers: ReadonlyMap<string, string>,
): string | undefined {
  const header = headers.get(BRAND.accountHeader);
  if (header !== undefined && header !== '') return header;
  // A browser sends the cookie with every request, also with the requests of programs in a page that have a key.
  return via === 'developer_key'
    ? undefined
    : readCookie(headers.get('cookie'), BRAND.accountCookie);
}
