import { isIPv4 } from 'node:net';
import { parseDestination } from './parse-destination.ts';

/** Returns true when a host in its normal form may be called. */
export type AdmitsHost = (host: string) => boolean;

/**
 * Returns the check of an allowlist. A listed domain admits itself and its subdomains, a listed address itself alone; an empty
 * list admits all hosts. Throws when an entry is no host.
 */
export function createDomainAllowlist(entries: readonly string[]): AdmitsHost {
  const domains = new Set<string>();
  const addresses = new Set<string>();
  for (const entry of entries) {
    const host = readEntry(entry);
    (isAddress(host) ? addresses : domains).add(host);
  }
  if (entries.length === 0) return () => true;
  return (host) => addresses.has(host) || (!isAddress(host) && parentsOf(host, domains));
}

const isAddress = (host: string) => host.startsWith('[') || isIPv4(host);

function parentsOf(host: string, domains: ReadonlySet<string>): boolean {
  for (let rest = host; ; rest = rest.slice(rest.indexOf('.') + 1)) {
    if (domains.has(rest)) return true;
    if (!rest.includes('.')) return false;
  }
}

function readEntry(entry: string): string {
  const name = entry.trim().replace(/^\*?\./, '');
  const bare = name.includes(':') && !name.startsWith('[') ? `[${name}]` : name;
  try {
    const { host, url } = parseDestination(`http://${bare}`);
    if (url.href === `http://${host}/`) return host;
  } catch {
    // The error below reports the entry.
  }
  throw new Error(`not a domain or an address: ${JSON.stringify(entry)}`);
}
