import type { Sql } from '../../platform/postgres/sql.ts';
import { rampErrors } from '../errors.ts';
import { hasOnrampSession } from './onramp-store.ts';

/** Throws 404 when the account has no such session of the on-ramp. */
export async function requireSession(sql: Sql, accountId: string, id: string): Promise<void> {
  if (!(await hasOnrampSession(sql, accountId, id))) throw rampErrors.sessionNotFound();
}
