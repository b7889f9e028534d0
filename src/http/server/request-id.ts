import { type Random, randomHex } from '../../kernel/random.ts';
import { HTTP_LIMITS } from '../limits.ts';

const ACCEPTABLE = new RegExp(`^[A-Za-z0-9._:/+=-]{1,${HTTP_LIMITS.request.idChars}}$`);

const ID_BYTES = 12;
const IDS_AT_ONCE = 256;

/**
 * Returns the function that names requests. Keeps the caller's own id when it is short and plain, so that it can go into logs
 * and headers; otherwise makes an id from random bytes that are drawn for many requests at once.
 */
export function createRequestIds(random: Random): (sent: string | undefined) => string {
  let drawn = '';
  let at = 0;
  return (sent) => {
    if (sent !== undefined && ACCEPTABLE.test(sent)) return sent;
    if (at === drawn.length) {
      drawn = randomHex(random, ID_BYTES * IDS_AT_ONCE);
      at = 0;
    }
    at += 2 * ID_BYTES;
    return `req_${drawn.slice(at - 2 * ID_BYTES, at)}`;
  };
}
