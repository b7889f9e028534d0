import { z } from 'zod';
import type { Developers } from '../../../accounts/management/developers.ts';
import { noSessionCookie } from '../../../http/auth/session-cookie.ts';
import { ok, route } from '../../../http/route/route.ts';

/**
 * Ends the session of the request, or with `everywhere` all sessions of the account. A request with a signature or a developer
 * key also ends all sessions, so that a developer who lost a token can revoke it.
 */
export const logout = route<{ developers: Developers; secureCookies: boolean }>()({
  method: 'POST',
  path: '/v1/developer/auth/logout',
  credential: 'management',
  summary: 'End the session, or every session of the account',
  body: z.object({ everywhere: z.boolean().default(false) }),
  response: z.object({ loggedOut: z.literal(true), everywhere: z.boolean() }),

  async handle({ caller, body, services }) {
    // A token from before sessions had ids cannot be distinguished from other such tokens.
    const sessionId = body.everywhere ? undefined : caller.sessionId || undefined;
    await services.developers.signOut(caller, sessionId);
    const cookie = noSessionCookie({ secure: services.secureCookies });
    return ok({ loggedOut: true, everywhere: sessionId === undefined }, { 'set-cookie': cookie });
  },
});
