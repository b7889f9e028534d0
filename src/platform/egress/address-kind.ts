import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/**
 * `public` may be called. `local` (private use, loopback, unique-local) may be called in development. `refused` is never
 * called: special-purpose ranges, addresses that contain another address, and metadata services of clouds.
 */
export type AddressKind = 'public' | 'local' | 'refused';

const cidrs = (list: readonly string[]) => list.map((cidr) => ipaddr.parseCIDR(cidr));

const LOCAL_V4 = cidrs(['10.0.0.0/8', '127.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16']);

/** Special-purpose address registry of IANA, and one address of a cloud's own that lies among public addresses. */
const REFUSED_V4 = cidrs([
  '0.0.0.0/8',
  '100.64.0.0/10',
  '168.63.129.16/32',
  '169.254.0.0/16',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.31.196.0/24',
  '192.52.193.0/24',
  '192.88.99.0/24',
  '192.175.48.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
]);

const LOCAL_V6 = cidrs(['::1/128', 'fc00::/7']);

/** Addresses of metadata services within the unique-local range. */
const METADATA_V6 = cidrs(['fd00:ec2::/32', 'fd20:ce::/32']);

/** Only range with public addresses; mapped, compatible, NAT64 and all other addresses lie outside of this range. */
const GLOBAL_V6 = cidrs(['2000::/3']);

/** Special ranges inside `GLOBAL_V6`: protocol assignments with Teredo, documentation, 6to4, AS112. */
const REFUSED_V6 = cidrs([
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  '2620:4f:8000::/48',
  '3fff::/20',
]);

type Range = ReturnType<typeof ipaddr.parseCIDR>;
type Address = ReturnType<typeof ipaddr.parse>;

const within = (address: Address, ranges: readonly Range[]) =>
  ranges.some((range) => address.match(range));

/** Returns the kind of an address in its ordinary spelling. A text that is no address, or has a zone, is refused. */
export function addressKind(text: string): AddressKind {
  if (isIP(text) === 0 || text.includes('%')) return 'refused';
  const address = ipaddr.parse(text);
  if (address instanceof ipaddr.IPv4) {
    if (within(address, LOCAL_V4)) return 'local';
    return within(address, REFUSED_V4) ? 'refused' : 'public';
  }
  if (within(address, METADATA_V6)) return 'refused';
  if (within(address, LOCAL_V6)) return 'local';
  if (!within(address, GLOBAL_V6) || within(address, REFUSED_V6)) return 'refused';
  return tunnels(address as ipaddr.IPv6) ? 'refused' : 'public';
}

/** Returns true for an interface identifier of ISATAP, which a tunnelling host would deliver to the IPv4 address inside. */
function tunnels(address: ipaddr.IPv6): boolean {
  const [fifth, sixth] = [address.parts[4] ?? 0, address.parts[5] ?? 0];
  return (fifth & 0xfdff) === 0 && sixth === 0x5efe;
}
