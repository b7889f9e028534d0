import { readSpender } from '../gateway/read-spender.ts';
import type { AgentCaller } from '../http/caller.ts';
import { BRAND } from '../kernel/ids.ts';
import type { Spender } from '../ledger/ledger.ts';

/** Who spends on a socket. A browser cannot set headers, so that its customer may stand in the query. */
export function readSocketSpender(
  caller: AgentCaller,
  headers: ReadonlyMap<string, string>,
  customerId: string | undefined,
): Spender {
  const header = `${BRAND.headerPrefix}customer-id`;
  const tagged =
    customerId === undefined || headers.has(header)
      ? headers
      : new Map([...headers, [header, customerId]]);
  return readSpender(caller, tagged);
}
