import { createHmac, timingSafeEqual } from 'node:crypto';

/** Returns the HMAC-SHA256 of a text in hex. API keys are stored and looked up in this form only. */
export function keyedHash(secret: string, text: string): string {
  return createHmac('sha256', secret).update(text).digest('hex');
}

/** Compares two secrets in constant time, so that the time does not reveal how much of them matches. */
export function sameSecret(a: string, b: string): boolean {
  const left = createHmac('sha256', 'compare').update(a).digest();
  const right = createHmac('sha256', 'compare').update(b).digest();
  return timingSafeEqual(left, right);
}
