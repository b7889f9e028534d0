import { isIPv4 } from 'node:net';
import { domainToUnicode } from 'node:url';
import { BlockedDestination } from './blocked-destination.ts';
import { EGRESS_LIMITS } from './limits.ts';

export type ParsedDestination = {
  /** URL in normal form, without a fragment and without a dot after the host. */
  readonly url: URL;
  /** Host in normal form: lower-case ASCII, an IPv6 address in brackets. */
  readonly host: string;
  /** Address that the host spells out; null for a name. */
  readonly literal: string | null;
};

const SHAPE = /^https?:\/\/([^/?#]*)/i;
const AUTHORITY = /^(\[[^[\]]*\]|[^:[\]]*)(?::(.*))?$/;
const LABEL = /^[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?$/;
/** No top-level domain begins with a digit; a host that does may be read as an address somewhere. */
const LAST_LABEL = /^[a-z]/;

/**
 * Reads a URL that is spelled plainly. Refuses a spelling that another reader could take for another place, whatever it means:
 * addresses must have their usual spelling, names no empty labels, and characters outside ASCII must stay visible as punycode.
 */
export function parseDestination(text: string): ParsedDestination {
  if (text.length > EGRESS_LIMITS.address.urlChars)
    throw new BlockedDestination('the URL is too long');
  if (/[\p{Cc}\p{Cs}\p{Z}\s\\]/u.test(text)) {
    throw new BlockedDestination('the URL holds a space, a control character or a backslash');
  }
  const authority = SHAPE.exec(text)?.[1];
  if (authority === undefined) {
    throw new BlockedDestination('only absolute http and https URLs are called');
  }
  if (authority.includes('@')) {
    throw new BlockedDestination('the URL holds a user name or a password');
  }
  const parts = AUTHORITY.exec(authority);
  if (parts === null || !URL.canParse(text)) throw new BlockedDestination('the URL is not valid');
  checkPort(parts[2]);
  const url = new URL(text);
  url.hash = '';
  const spelled = parts[1] ?? '';
  const literal = readLiteral(spelled, url.hostname);
  if (literal !== null) return { url, host: url.hostname, literal };

  const host = readName(spelled, url.hostname);
  url.hostname = host;
  return { url, host, literal: null };
}

function checkPort(port: string | undefined): void {
  if (port === undefined) return;
  if (!/^[1-9]\d{0,4}$/.test(port)) throw new BlockedDestination('the port is not valid');
  if (isBlockedPort(Number(port))) {
    throw new BlockedDestination(`port ${port} is not one of a web server`);
  }
}

function readLiteral(spelled: string, hostname: string): string | null {
  if (hostname.startsWith('[')) {
    // An IPv6 address with dots contains an IPv4 address. All such ranges are refused; this check refuses them sooner.
    if (!/^\[[\da-f:]+\]$/i.test(spelled)) {
      throw new BlockedDestination('the host is an address in an unusual spelling');
    }
    return hostname.slice(1, -1);
  }
  if (!isIPv4(hostname)) return null;
  if (spelled !== hostname) {
    throw new BlockedDestination('the host is an address in an unusual spelling');
  }
  return hostname;
}

function readName(spelled: string, hostname: string): string {
  const host = hostname.endsWith('.') ? hostname.slice(0, -1) : hostname;
  const written = (spelled.endsWith('.') ? spelled.slice(0, -1) : spelled).split('.');
  const labels = host.split('.');
  const tooLong =
    host.length > EGRESS_LIMITS.address.hostChars ||
    labels.some((label) => label.length > EGRESS_LIMITS.address.labelChars);
  if (tooLong) throw new BlockedDestination('the host name is too long');
  const plain =
    labels.length === written.length &&
    LAST_LABEL.test(labels.at(-1) ?? '') &&
    labels.every((label, i) => LABEL.test(label) && isWrittenAs(label, written[i] ?? '')) &&
    labels.every((label) => !label.startsWith('xn--') || isPunycode(label));
  if (!plain) throw new BlockedDestination('the host name is not valid or is in disguise');
  return host;
}

/** Returns false for a label outside ASCII that reads as plain ASCII once mapped: such a label is another name's look-alike. */
const isWrittenAs = (label: string, written: string): boolean =>
  /^[\x21-\x7e]*$/.test(written) ? label === written.toLowerCase() : label.startsWith('xn--');

/** Returns true for a label that decodes from punycode. Node.js 24 and later accept a label that only looks like punycode. */
const isPunycode = (label: string): boolean => /[^\x21-\x7e]/.test(domainToUnicode(label));

/**
 * Ports of services other than HTTP, which might read a request as a command: the bad ports of the Fetch standard, then
 * databases, caches and remote desktops.
 */
const BLOCKED_PORTS: ReadonlySet<number> = new Set([
  1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102,
  103, 104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465,
  512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993,
  995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668,
  6669, 6679, 6697, 10080,

  138, 445, 873, 1080, 1433, 1521, 2483, 2484, 3128, 3268, 3269, 3306, 3389, 5432, 5672, 5900, 6379,
  6380, 9042, 11211, 27017, 27018, 27019,
]);

const isBlockedPort = (port: number): boolean => BLOCKED_PORTS.has(port);
