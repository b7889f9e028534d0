import ipaddr from 'ipaddr.js';
import { ConfigError } from '../../config/config-error.ts';
import { RecentMap } from '../../kernel/recent-map.ts';

/** Last addresses of `X-Forwarded-For` that are read. */
const FORWARDED_HOPS = 32;

type Range = [ipaddr.IPv4 | ipaddr.IPv6, number];

const CACHED_ADDRESSES = 4_096;

/**
 * Builds the look-up of a client's address. `X-Forwarded-For` is believed only from trusted proxies: the header is read from
 * the right, and the first address that is not a trusted proxy is the client.
 */
export function createClientAddress(trustedProxies: readonly string[]) {
  const isTrusted = createIsTrustedProxy(trustedProxies);
  const spelled = new RecentMap<string, string>(CACHED_ADDRESSES);

  /**
   * Returns the peer's address in its short spelling. The socket spells addresses in long form; the same few peers come back,
   * so the result is kept.
   */
  const normalise = (remote: string): string => {
    const known = spelled.get(remote);
    if (known !== undefined) return known;
    const text = parseAddress(remote)?.toString() ?? 'unknown';
    spelled.set(remote, text);
    return text;
  };

  return (remote: string, forwardedFor: string | undefined): string => {
    const peer = normalise(remote);
    if (trustedProxies.length === 0 || forwardedFor === undefined || !isTrusted(peer)) return peer;

    const hops = forwardedFor.split(',').slice(-FORWARDED_HOPS).reverse();
    let client = peer;
    for (const hop of hops) {
      const address = parseAddress(hop.trim())?.toString();
      if (address === undefined) break;
      client = address;
      if (!isTrusted(address)) break;
    }
    return client;
  };
}

/** Builds the check of trusted proxies. The check returns true for the address of a proxy that many clients stand behind. */
export function createIsTrustedProxy(trustedProxies: readonly string[]) {
  const trusted = trustedProxies.map(parseRange);
  return (text: string): boolean => {
    const address = trusted.length === 0 ? undefined : parseAddress(text);
    return address !== undefined && trusted.some((range) => inRange(address, range));
  };
}

/** Hextets of an IPv6 address that name a network. The owner of the network chooses the hextets after them. */
const NETWORK_HEXTETS = 4;

const networks = new RecentMap<string, string>(CACHED_ADDRESSES);

/**
 * Returns the network that limits count an address under: an IPv4 address itself, the /64 of an IPv6 address, since a host that
 * has one address of a /64 has all of them.
 */
export function networkOf(address: string): string {
  if (!address.includes(':')) return address;
  const known = networks.get(address);
  if (known !== undefined) return known;
  const parsed = parseAddress(address);
  const network =
    parsed instanceof ipaddr.IPv6
      ? `${parsed.parts
          .slice(0, NETWORK_HEXTETS)
          .map((part) => part.toString(16))
          .join(':')}::/64`
      : (parsed?.toString() ?? address);
  networks.set(address, network);
  return network;
}

/** Parses an address in any usual spelling, IPv4 inside IPv6 taken out. Undefined when the text is no address. */
function parseAddress(text: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  const bare = text.replace(/^\[(.*)\](?::\d+)?$/, '$1').replace(/^(\d+(?:\.\d+){3}):\d+$/, '$1');
  return ipaddr.isValid(bare) ? ipaddr.process(bare) : undefined;
}

function parseRange(text: string): Range {
  if (text.includes('/')) return ipaddr.parseCIDR(text);
  const address = ipaddr.process(text);
  return [address, address.kind() === 'ipv4' ? 32 : 128];
}

/** Throws when a trusted proxy is neither an address nor a CIDR range. The error names the entry. */
export function checkTrustedProxies(trustedProxies: readonly string[]): void {
  for (const entry of trustedProxies) {
    try {
      parseRange(entry);
    } catch {
      throw new ConfigError(`TRUSTED_PROXIES: "${entry}" is neither an address nor a CIDR range`);
    }
  }
}

function inRange(address: ipaddr.IPv4 | ipaddr.IPv6, [base, bits]: Range): boolean {
  return address.kind() === base.kind() && address.match(base, bits);
}
