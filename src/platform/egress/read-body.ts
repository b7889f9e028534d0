import { brotliDecompressSync, gunzipSync, inflateRawSync, inflateSync } from 'node:zlib';
import { BodyTooLarge } from './send-failed.ts';

/** Thrown for a body whose coding is unknown or whose bytes do not follow the coding. */
class UndecodableBody extends Error {
  override readonly name = 'UndecodableBody';
}

const MAX_CODINGS = 2;

/** Reads a whole body into memory. Throws BodyTooLarge past `maxBytes`, and any error of the body. */
export async function readBounded(
  body: AsyncIterable<Uint8Array>,
  maxBytes: number,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) throw new BodyTooLarge(maxBytes);
    chunks.push(chunk);
  }
  return chunks.length === 1 ? (chunks[0] as Uint8Array) : Buffer.concat(chunks, bytes);
}

/**
 * Decodes a Content-Encoding of gzip, deflate or br. For small bodies, since it blocks while it works. Throws BodyTooLarge when
 * any step yields more than `maxBytes`, and UndecodableBody when the coding is unknown or the bytes do not follow it.
 */
export function decodeContent(
  bytes: Uint8Array,
  contentEncoding: string | undefined,
  maxBytes: number,
): Uint8Array {
  if (bytes.byteLength === 0) return bytes;
  const codings = (contentEncoding ?? '')
    .split(',')
    .map((coding) => coding.trim().toLowerCase())
    .filter((coding) => coding !== '' && coding !== 'identity');
  if (codings.length > MAX_CODINGS) throw new UndecodableBody('too many codings');
  const decoded = codings.reduceRight((rest, coding) => undo(rest, coding, maxBytes), bytes);
  if (decoded.byteLength > maxBytes) throw new BodyTooLarge(maxBytes);
  return decoded;
}

function undo(bytes: Uint8Array, coding: string, maxOutputLength: number): Uint8Array {
  try {
    switch (coding) {
      case 'gzip':
      case 'x-gzip':
        return gunzipSync(bytes, { maxOutputLength });
      case 'deflate':
        // Some servers omit the zlib wrapper, whose first byte has 8 in the low half.
        return ((bytes[0] ?? 0) & 0x0f) === 8
          ? inflateSync(bytes, { maxOutputLength })
          : inflateRawSync(bytes, { maxOutputLength });
      case 'br':
        return brotliDecompressSync(bytes, { maxOutputLength });
    }
  } catch (cause) {
    if ((cause as { code?: string }).code === 'ERR_BUFFER_TOO_LARGE') {
      throw new BodyTooLarge(maxOutputLength);
    }
    throw new UndecodableBody(`the body is not ${coding}`, { cause });
  }
  throw new UndecodableBody('the coding is not known');
}
