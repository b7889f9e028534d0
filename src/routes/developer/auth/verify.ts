import { z } from 'zod';
import type { Developers } from '../../../accounts/management/developers.ts';
import { noAccountCookie, sessionCookie } from '../../../http/auth/session-cookie.ts';
import { ok, route } from '../../../http/route/route.ts';
import { DeveloperRecord } from '../developer-shape.ts';

/** Signs a wallet in: a fresh signature opens a session of seven days, whose token is set as a cookie. */
export const verifyWallet = route<{ developers: Developers; secureCookies: boolean }>()({
  method: 'POST',
  path: '/v1/developer/auth/verify',
  credential: 'signature',
  summary: 'Open a session with a wallet signature',
  rateLimit: 'ip',
  response: z.object({ developer: DeveloperRecord }),

  async handle({ caller, headers, services }) {
    const { developer, token } = await services.developers.signIn(caller);
    const cookie = sessionCookie(token, { secure: services.secureCookies });
    // An account that another wallet selected in this browser would refuse every request of this wallet.
    const lines = noAccountCookie(headers.get('cookie'));
    return { ...ok({ developer }, { 'set-cookie': cookie }), lines };
  },
});
