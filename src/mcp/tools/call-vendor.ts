import { isUtf8 } from 'node:buffer';
import { ProxyRequest } from '../../payments/proxy/proxy-request.ts';
import { proxyFetch } from '../../routes/proxy/fetch.ts';
import type { RouteAnswer } from '../route-answer.ts';
import { tool } from '../tool.ts';
import { costOf } from '../tool-result.ts';

/** Sends a request to any vendor, and pays once when the vendor requires payment. */
export const callVendor = tool({
  name: 'call_vendor',
  title: 'Call a paid vendor',
  description:
    'Sends an HTTP request to a vendor, and pays it from the balance where the vendor asks for an x402 payment. Answers the body, then status, cost and how the body is encoded. An `error` about an ambiguous payment must not be repeated: look the reservation up.',
  isReadOnly: false,
  input: ProxyRequest,

  async call(args, ask) {
    const answer = await ask(proxyFetch, { body: args });
    const { contentType, isCut, status } = answer;
    const { body, encoding } = readable(answer);
    const receipt = {
      status,
      contentType,
      encoding,
      ...(isCut && { truncated: true }),
      ...costOf(answer),
    };
    return {
      ...(status >= 400 && { isError: true }),
      // The body is in `content` alone: some clients show the model only the structured content, others never do, and sending
      // the body twice would be too long.
      content: [
        { type: 'text', text: body },
        { type: 'text', text: JSON.stringify(receipt) },
      ],
    };
  },
});

/** Returns the body as text, or in base64 when it is not text or has control characters, which JSON makes six times as long. */
function readable({ bytes, isCut }: RouteAnswer): { body: string; encoding: 'utf8' | 'base64' } {
  // The cut may have split a character, which has at most four bytes.
  const isText = [0, 1, 2, 3].some(
    (n) => isUtf8(bytes.subarray(0, bytes.length - n)) && (n === 0 || isCut),
  );
  if (isText && !hasControls(bytes)) return { body: bytes.toString('utf8'), encoding: 'utf8' };
  return { body: bytes.toString('base64'), encoding: 'base64' };
}

const SPACE = 0x20;
const isBlank = (byte: number): boolean => byte === 0x09 || byte === 0x0a || byte === 0x0d;

function hasControls(bytes: Uint8Array): boolean {
  for (const byte of bytes) if (byte < SPACE && !isBlank(byte)) return true;
  return false;
}
