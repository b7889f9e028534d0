import { BRAND } from '../../kernel/ids.ts';
import type { AgentSocket } from '../route/socket-route.ts';
import { bearerToken, type Presented, presentKey, schemeToken } from './presented-credential.ts';

/** Returns the key of an upgrade from the places that its route allows, in the order of `authenticateFrom`. */
export function socketCredential(
  spec: Pick<
    AgentSocket,
    'authenticateFrom' | 'keyProtocolPrefix' | 'acceptsTokenScheme' | 'protocols'
  >,
  headers: ReadonlyMap<string, string>,
  query: Readonly<Record<string, string>>,
): Presented {
  for (const source of spec.authenticateFrom) {
    switch (source) {
      case 'bearer': {
        const authorization = headers.get('authorization');
        if (authorization === undefined) break;
        const token =
          bearerToken(authorization) ??
          (spec.acceptsTokenScheme === true ? schemeToken(authorization) : undefined);
        return token === undefined ? { kind: 'malformed' } : presentKey(token);
      }
      case 'subprotocol': {
        const offers = offeredProtocols(headers);
        const key =
          offers
            .map((offer) => keyAmong(offer, spec.keyProtocolPrefix))
            .find((found) => found !== undefined) ?? foreignKey(offers, spec);
        if (key !== undefined) return presentKey(key);
        break;
      }
      case 'query': {
        // biome-ignore lint/complexity/useLiteralKeys: an index signature is read by its wire name.
        const key = query['api_key'];
        if (key !== undefined) return presentKey(key);
        break;
      }
    }
  }
  return { kind: 'nothing' };
}

const offeredProtocols = (headers: ReadonlyMap<string, string>): string[] =>
  (headers.get('sec-websocket-protocol') ?? '').split(',').map((offer) => offer.trim());

function keyAmong(offer: string, prefix: string | undefined): string | undefined {
  if (offer.startsWith(BRAND.agentKeyPrefix)) return offer;
  if (offer.startsWith(BRAND.clientSecretPrefix)) return offer;
  return prefix !== undefined && offer.startsWith(prefix) ? offer.slice(prefix.length) : undefined;
}

/** Returns the sub-protocol behind the word `token` or `bearer`, in the place of a key. */
function foreignKey(
  offers: readonly string[],
  { acceptsTokenScheme, protocols }: Pick<AgentSocket, 'acceptsTokenScheme' | 'protocols'>,
): string | undefined {
  if (acceptsTokenScheme !== true) return undefined;
  const word = offers.findIndex((offer) => /^(?:token|bearer)$/i.test(offer));
  const behind = word === -1 ? undefined : offers[word + 1];
  return behind === undefined || behind === '' || protocols.includes(behind) ? undefined : behind;
}

/**
 * Returns the server's favourite among the offered sub-protocols: always a name of the route, never a key. Undefined when the
 * server supports none of the offered names.
 */
export function chooseProtocol(
  supported: readonly string[],
  headers: ReadonlyMap<string, string>,
): string | undefined {
  const offered = offeredProtocols(headers);
  return supported.find((name) => offered.includes(name));
}
