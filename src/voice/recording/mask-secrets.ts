import { parseBoundedJson } from '../../kernel/json/parse-json.ts';

/** Pattern of the names of members that hold credentials, which a session may contain for its tools. */
const NAMES = '(?:x-)?(?:authorization|api[-_]?key|(?:access_|client_)?(?:token|secret)|password)';
const NAME = new RegExp(`^${NAMES}$`, 'i');
const NAMED = new RegExp(`("${NAMES}"\\s*:\\s*)"(?:[^"\\\\]|\\\\.)*"`, 'gi');
const USER_OF_URL = /^([a-z][a-z\d+.-]*:\/\/)[^/?#\s]*@/i;
const MASK = '***';

/** Replaces the credentials in the text or bytes of an event by a mask. Masking twice changes nothing. */
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
    // The text is not JSON, or nested too deeply to parse.
    return text.replace(NAMED, `$1"${MASK}"`);
  }
}

/** Masks the credentials in `value` in place. Returns true when there were any. */
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
