import { type HttpAnswer, isStream } from '../http/route/answer.ts';
import { joinPieces } from '../kernel/long-work.ts';

/** What a route answered, with as much of its body as a tool shows. */
export type RouteAnswer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly contentType: string;
  readonly bytes: Buffer;
  /** The body was longer than the bound, or broke off. */
  readonly isCut: boolean;
};

/**
 * Reads an answer up to a bound. A body that breaks off keeps what has come of it: it may have been paid for. Never
 * rejects.
 */
export async function readAnswer(answer: HttpAnswer, maxBytes: number): Promise<RouteAnswer> {
  const { status, lines = [] } = answer;
  const headers = { ...Object.fromEntries(lines), ...answer.headers };
  const { bytes, isCut } = await readBody(answer.body, maxBytes);
  return { status, headers, contentType: headers['content-type'] ?? '', bytes, isCut };
}

type Read = Pick<RouteAnswer, 'bytes' | 'isCut'>;

async function readBody(body: HttpAnswer['body'], maxBytes: number): Promise<Read> {
  if (!isStream(body)) {
    const bytes = typeof body === 'string' ? Buffer.from(body) : asBuffer(body);
    return { bytes: bytes.subarray(0, maxBytes), isCut: bytes.length > maxBytes };
  }
  const pieces: Buffer[] = [];
  let length = 0;
  let isCut = false;
  try {
    for await (const piece of body) {
      // Its source may use the memory again.
      pieces.push(Buffer.from(piece.subarray(0, maxBytes - length)));
      length += piece.byteLength;
      isCut = length > maxBytes;
      if (isCut) break;
    }
  } catch {
    isCut = true;
  }
  return { bytes: await joinPieces(pieces), isCut };
}

const asBuffer = (bytes: Uint8Array): Buffer =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
