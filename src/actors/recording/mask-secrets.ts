/** A session that names a tool may carry its credential: these are the names that it goes by. */
const NAMES = 'authorization|api_?key|(?:access_|client_)?(?:token|secret)|password';
const SECRET = new RegExp(`("(?:${NAMES})"\\s*:\\s*)"(?:[^"\\\\]|\\\\.)*"`, 'gi');
const HEADERS = /("headers"\s*:\s*)\{[^{}]*\}/gi;
/** What is longer is sound. */
const MOST_BYTES = 262_144;

/** Text or bytes of an event without the credentials that it may carry. The same masked twice is the same. */
export function maskSecrets<T>(value: T): T | string | Buffer {
  if (typeof value === 'string') return value.length > MOST_BYTES ? value : maskText(value);
  if (!(value instanceof Uint8Array) || value.length > MOST_BYTES) return value;
  const bytes = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  const text = bytes.toString('latin1');
  const masked = maskText(text);
  return masked === text ? value : Buffer.from(masked, 'latin1');
}

const maskText = (text: string): string => text.replace(SECRET, '$1"***"').replace(HEADERS, '$1{}');
