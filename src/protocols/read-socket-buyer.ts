import { readProviderKey } from '../accounts/provider-keys/provider-key-header.ts';
import type { SocketContext } from '../http/route/socket-route.ts';
import { BRAND } from '../kernel/ids.ts';
import type { Buyer } from '../models/purchase/buyer.ts';
import { readSpender } from '../models/purchase/read-spender.ts';

/**
 * Reads the agent, the customer and the provider key of a socket. A browser sets no headers: its query may name the customer.
 */
export function readSocketBuyer(
  {
    caller,
    headers,
    signal,
    span,
  }: Pick<SocketContext<unknown, undefined>, 'caller' | 'headers' | 'signal' | 'span'>,
  customerId: string | undefined,
): Omit<Buyer, 'workId' | 'admitPooled'> {
  const header = `${BRAND.headerPrefix}customer-id`;
  const tagged =
    customerId === undefined || headers.has(header)
      ? headers
      : new Map([...headers, [header, customerId]]);
  return {
    accountId: caller.accountId,
    promptCaching: caller.promptCaching,
    signal,
    span,
    providerKey: readProviderKey(headers),
    spender: readSpender(caller, tagged),
  };
}
