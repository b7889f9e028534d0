import { z } from 'zod';
import type { Developers } from '../../../accounts/management/developers.ts';
import { noAccountCookie, noSessionCookie } from '../../../http/auth/session-cookie.ts';
import { ok, route } from '../../../http/route/route.ts';

/**
 * Ends the session of the request, or with `everywhere` all sessions of the wallet. A request with a signature or a developer
 * key also ends all sessions of its wallet, so that a developer who lost a token can revoke it.
 */
export const logout = route<{ developers: Developers; secureCookies: boolean }>()({
  method: 'POST',
  path: '/v1/developer/auth/logout',
  credential: 'management',
  summary: 'End the session, or every session of the wallet',
  right: 'self',
  body: z.object({ everywhere: z.boolean().default(false) }),
  response: z.object({ loggedOut: z.literal(true), everywhere: z.boolean() }),

  async handle({ caller, body, headers, services }) {
    // A token from before sessions had ids cannot be distinguished from other such tokens.
    const sessionId = body.everywhere ? undefined : caller.sessionId || undefined;
    await services.developers.signOut(caller, sessionId);
    const cookie = noSessionCookie({ secure: services.secureCookies });
    const answer = { loggedOut: true, everywhere: sessionId === undefined };
    const lines = noAccountCookie(headers.get('cookie'));
    return { ...ok(answer, { 'set-cookie': cookie }), lines };
  },
});
