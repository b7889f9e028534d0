import { ACCOUNT_LIMITS } from '../../accounts/limits.ts';
import { BRAND } from '../../kernel/ids.ts';

/** Returns the `Set-Cookie` value that carries a dashboard session. `secure` is on wherever TLS is expected. */
export function sessionCookie(token: string, { secure }: { readonly secure: boolean }): string {
  const attributes = `Path=/; HttpOnly; SameSite=Lax; Max-Age=${ACCOUNT_LIMITS.session.tokenSeconds}`;
  return `${BRAND.sessionCookie}=${token}; ${attributes}${secure ? '; Secure' : ''}`;
}

/** Returns the `Set-Cookie` value that makes a browser forget its session. */
export const noSessionCookie = ({ secure }: { readonly secure: boolean }): string =>
  `${BRAND.sessionCookie}=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0${secure ? '; Secure' : ''}`;

/** Returns the session token among the cookies of a request. Undefined when there is none. */
export function readSessionCookie(cookieHeader: string | undefined): string | undefined {
  if (cookieHeader === undefined) return undefined;
  const wanted = `${BRAND.sessionCookie}=`;
  for (const part of cookieHeader.split(';')) {
    const cookie = part.trim();
    if (cookie.startsWith(wanted)) return cookie.slice(wanted.length) || undefined;
  }
  return undefined;
}
