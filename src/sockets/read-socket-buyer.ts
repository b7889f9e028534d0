import { readProviderKey } from '../accounts/provider-keys/provider-key-header.ts';
import type { SocketContext } from '../http/websocket/socket-route.ts';
import { BRAND } from '../kernel/ids.ts';
import { readSpender } from '../models/purchase/read-spender.ts';
import type { RelayBuyer } from '../voice/relay/connect-relay.ts';

/** Reads who spends on a socket, and the provider key. A browser sets no headers: its query may name the customer. */
export function readSocketBuyer(
  {
    caller,
    headers,
    signal,
  }: Pick<SocketContext<unknown, undefined>, 'caller' | 'headers' | 'signal'>,
  customerId: string | undefined,
): RelayBuyer {
  const header = `${BRAND.headerPrefix}customer-id`;
  const tagged =
    customerId === undefined || headers.has(header)
      ? headers
      : new Map([...headers, [header, customerId]]);
  return {
    accountId: caller.accountId,
    signal,
    providerKey: readProviderKey(headers),
    spender: readSpender(caller, tagged),
  };
}
