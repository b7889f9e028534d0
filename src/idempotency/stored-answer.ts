import { pack, unpack } from 'msgpackr';
import type { HeaderLine, HttpAnswer } from '../http/route/answer.ts';
import { BRAND } from '../kernel/ids.ts';

type Stored = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly lines?: readonly HeaderLine[];
  readonly body: Uint8Array;
  readonly requestId?: string;
};

const REPLAY = { [`${BRAND.headerPrefix}idempotent-replay`]: 'true' };

/** Returns the bytes in which an answer is kept, or null when its body is over the bound. */
export function encodeAnswer(
  { status, headers, lines, requestId }: HttpAnswer,
  body: string | Uint8Array,
  maxBodyBytes: number,
): Buffer | null {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  if (bytes.byteLength > maxBodyBytes) return null;
  const stored: Stored = {
    status,
    headers,
    ...(lines && { lines }),
    body: bytes,
    ...(requestId === undefined ? {} : { requestId }),
  };
  return pack(stored);
}

/** Returns the first answer with its request id, byte for byte, and the header that marks a replay. */
export function decodeReplay(bytes: Uint8Array): HttpAnswer {
  const { headers, ...first } = unpack(bytes) as Stored;
  return { ...first, headers: { ...headers, ...REPLAY } };
}
