import { parseBoundedJson } from '../../kernel/parse-json.ts';

/** A session that names a tool may carry its credential: these are the names that it goes by. */
const NAMES = '(?:x-)?(?:authorization|api[-_]?key|(?:access_|client_)?(?:token|secret)|password)';
const NAME = new RegExp(`^${NAMES}$`, 'i');
const NAMED = new RegExp(`("${NAMES}"\\s*:\\s*)"(?:[^"\\\\]|\\\\.)*"`, 'gi');
const USER_OF_URL = /^([a-z][a-z\d+.-]*:\/\/)[^/?#\s]*@/i;
const MASK = '***';

/** Text or bytes of an event without the credentials that it may carry. The same masked twice is the same. */
export function maskSecrets<T>(value: T): T | string | Buffer {
  if (typeof value === 'string') return maskText(value);
  if (!(value instanceof Uint8Array) || value[0] !== OPENING) return value;
  const bytes = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  const text = bytes.toString('utf8');
  const masked = maskText(text);
  return masked === text ? value : Buffer.from(masked, 'utf8');
}

const OPENING = 0x7b;

function maskText(text: string): string {
  try {
    const event = parseBoundedJson(text);
    return mask(event) ? JSON.stringify(event) : text;
  } catch {
    // No event, or one that is nested too deeply to be looked through.
    return text.replace(NAMED, `$1"${MASK}"`);
  }
}

/** Masks what is in `value`, and answers whether there was anything. */
function mask(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  let found = false;
  const members = value as Record<string, unknown>;
  for (const [name, member] of Object.entries(members)) {
    const masked = maskedOf(name, member);
    if (masked === member) {
      if (mask(member)) found = true;
    } else {
      members[name] = masked;
      found = true;
    }
  }
  return found;
}

function maskedOf(name: string, member: unknown): unknown {
  if (typeof member === 'string') {
    return NAME.test(name) ? MASK : member.replace(USER_OF_URL, `$1${MASK}@`);
  }
  if (name !== 'headers' || typeof member !== 'object' || member === null) return member;
  return Object.keys(member).length === 0 ? member : {};
}
