import { type HttpAnswer, isStream } from '../http/route/answer.ts';
import { joinPieces } from '../kernel/long-work.ts';

/** Answer of a route, with as many bytes of its body as the tool's bound allows. */
export type RouteAnswer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly contentType: string;
  readonly bytes: Buffer;
  /** True when the body was longer than the bound or ended early. */
  readonly isCut: boolean;
};

/**
 * Reads a response up to a bound, or until the call is over, because a vendor may send single bytes for ever. A body that
 * breaks off keeps the bytes received, which may have been paid for. Never rejects.
 */
export async function readAnswer(
  answer: HttpAnswer,
  maxBytes: number,
  over: AbortSignal,
): Promise<RouteAnswer> {
  const { status, lines = [] } = answer;
  const headers = { ...Object.fromEntries(lines), ...answer.headers };
  const { bytes, isCut } = await readBody(answer.body, maxBytes, over);
  return { status, headers, contentType: headers['content-type'] ?? '', bytes, isCut };
}

type Read = Pick<RouteAnswer, 'bytes' | 'isCut'>;

async function readBody(
  body: HttpAnswer['body'],
  maxBytes: number,
  over: AbortSignal,
): Promise<Read> {
  if (!isStream(body)) {
    const bytes = typeof body === 'string' ? Buffer.from(body) : asBuffer(body);
    return { bytes: bytes.subarray(0, maxBytes), isCut: bytes.length > maxBytes };
  }
  const pieces: Buffer[] = [];
  const source = body[Symbol.asyncIterator]();
  const ended = endOf(over);
  let left = maxBytes;
  try {
    for (;;) {
      const step = await Promise.race([source.next(), ended]);
      if (step === 'over') break;
      if (step.done === true) return { bytes: await joinPieces(pieces), isCut: false };
      // Copied, because the source may reuse the memory.
      pieces.push(Buffer.from(step.value.subarray(0, left)));
      left -= step.value.byteLength;
      if (left < 0) break;
    }
    // A source that hangs in the middle of its work is not waited for.
    source.return?.()?.catch(() => {});
  } catch {
    // The body broke off.
  }
  return { bytes: await joinPieces(pieces), isCut: true };
}

const endOf = (over: AbortSignal): Promise<'over'> =>
  new Promise((resolve) => {
    if (over.aborted) resolve('over');
    over.addEventListener('abort', () => resolve('over'), { once: true });
  });

const asBuffer = (bytes: Uint8Array): Buffer =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
