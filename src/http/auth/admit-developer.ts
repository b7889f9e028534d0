import { hasRight, RIGHTS, type Right } from '../../accounts/developers/role.ts';
import { credentialErrors } from '../../accounts/errors.ts';
import type { AgentCaller, Credential, DeveloperCaller, Permission } from '../route/caller.ts';
import type { Credentials } from './credentials.ts';
import { selectAccount } from './select-account.ts';

/** Demands of a route on a developer. */
type Demand = {
  readonly credential: Credential;
  readonly permission: Permission;
  readonly right?: Right;
};

/** Returns the developer as a member of the account that the request selects. Throws when the key or the role may not ask. */
export async function admitDeveloper(
  credentials: Pick<Credentials, 'roleIn'>,
  demand: Demand,
  own: DeveloperCaller,
  headers: ReadonlyMap<string, string>,
): Promise<DeveloperCaller> {
  const caller = concernsWallet(demand) ? own : await selectAccount(credentials, own, headers);
  requirePermission(demand, caller);
  const { right } = demand;
  if (right !== undefined && !hasRight(caller.role, right)) {
    throw credentialErrors.forbidden(caller.role, RIGHTS[right]);
  }
  return caller;
}

/** Returns true for a route that ignores the account which the request selects. */
const concernsWallet = ({ credential, right }: Demand): boolean =>
  credential === 'signature' || right === 'self';

/** Throws 403 when a key that only reads asks a route that writes. */
export function requirePermission(
  demand: Pick<Demand, 'permission'>,
  caller: AgentCaller | DeveloperCaller,
): void {
  if (demand.permission === 'read_write' && caller.permission === 'read') {
    throw credentialErrors.readOnly();
  }
}
