import { isIPv4 } from 'node:net';
import { LIMITS } from '../../kernel/limits.ts';
import { BlockedDestination } from './blocked-destination.ts';
import { isBlockedPort } from './blocked-ports.ts';

export type ParsedDestination = {
  /** In its normal form, without a fragment and without a dot after the host. */
  readonly url: URL;
  /** As it stands in the normal form: lower-case ASCII, an IPv6 address in its brackets. */
  readonly host: string;
  /** The address that the host spells out, or null for a name. */
  readonly literal: string | null;
};

const SHAPE = /^https?:\/\/([^/?#]*)/i;
const AUTHORITY = /^(\[[^[\]]*\]|[^:[\]]*)(?::(.*))?$/;
const LABEL = /^[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?$/;
/** No top-level domain begins with a digit; what does may be read as an address somewhere. */
const LAST_LABEL = /^[a-z]/;

/**
 * Reads a URL that is spelled plainly, or refuses it. A spelling that another reader could take for another place is
 * refused whatever it means: addresses only as they are usually written, names without empty labels, and characters
 * outside ASCII only where they stay visible as punycode.
 */
export function parseDestination(text: string): ParsedDestination {
  if (text.length > LIMITS.outboundUrlChars) throw new BlockedDestination('the URL is too long');
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
    // With dots it would carry an IPv4 address inside; all such ranges are refused, this only says so sooner.
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
    host.length > LIMITS.outboundHostChars ||
    labels.some((label) => label.length > LIMITS.outboundLabelChars);
  if (tooLong) throw new BlockedDestination('the host name is too long');
  const plain =
    labels.length === written.length &&
    LAST_LABEL.test(labels.at(-1) ?? '') &&
    labels.every((label, i) => LABEL.test(label) && isWrittenAs(label, written[i] ?? ''));
  if (!plain) throw new BlockedDestination('the host name is not valid or is in disguise');
  return host;
}

/** A label outside ASCII that reads as plain ASCII once mapped is another name's look-alike. */
const isWrittenAs = (label: string, written: string): boolean =>
  /^[\x21-\x7e]*$/.test(written) ? label === written.toLowerCase() : label.startsWith('xn--');
