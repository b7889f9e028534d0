import { ACCOUNT_LIMITS } from '../../accounts/limits.ts';
import { BRAND } from '../../kernel/ids.ts';
import type { HeaderLine } from '../route/answer.ts';

/** Returns the `Set-Cookie` value that carries a dashboard session. `secure` is on wherever TLS is expected. */
export function sessionCookie(token: string, { secure }: { readonly secure: boolean }): string {
  const attributes = `Path=/; HttpOnly; SameSite=Lax; Max-Age=${ACCOUNT_LIMITS.session.tokenSeconds}`;
  return `${BRAND.sessionCookie}=${token}; ${attributes}${secure ? '; Secure' : ''}`;
}

/** Returns the `Set-Cookie` value that makes a browser forget its session. */
export const noSessionCookie = ({ secure }: { readonly secure: boolean }): string =>
  `${BRAND.sessionCookie}=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0${secure ? '; Secure' : ''}`;

/** Returns the headers that make a browser forget the account that it had selected. None when it had selected none. */
export function noAccountCookie(cookieHeader: string | undefined): readonly HeaderLine[] {
  if (readCookie(cookieHeader, BRAND.accountCookie) === undefined) return [];
  return [['set-cookie', `${BRAND.accountCookie}=; Path=/; SameSite=Lax; Max-Age=0`]];
}

/** Returns the value of a cookie of a request. Undefined when it is absent or empty. */
export function readCookie(cookieHeader: string | undefined, name: string): string | undefined {
  if (cookieHeader === undefined) return undefined;
  const wanted = `${name}=`;
  for (const part of cookieHeader.split(';')) {
    const cookie = part.trim();
    if (cookie.startsWith(wanted)) return cookie.slice(wanted.length) || undefined;
  }
  return undefined;
}
