import { z } from 'zod';
import type { ClientSecrets } from '../../accounts/keys/client-secrets.ts';
import { bearerToken, schemeToken } from '../../http/auth/presented-credential.ts';
import { ok, route } from '../../http/route/route.ts';
import { DEEPGRAM_LIMITS } from '../../protocols/deepgram/limits.ts';

const { min, max, usual } = DEEPGRAM_LIMITS.grantSeconds;

const Body = z.object({ ttl_seconds: z.number().int().min(min).max(max).default(usual) });

/**
 * Makes a short-lived token for the routes and sockets of Deepgram's protocol, so that a browser does not need the agent's key.
 */
export const grantToken = route<{ clientSecrets: Pick<ClientSecrets, 'issue'> }>()({
  method: 'POST',
  path: '/v1/auth/grant',
  credential: 'agent',
  summary: 'Make a short-lived token, for clients of Deepgram',
  envelope: 'deepgram',
  acceptsTokenScheme: true,
  rateLimit: 'gateway',
  body: Body,

  handle({ body, headers, services }) {
    const authorization = headers.get('authorization') ?? '';
    const { value } = services.clientSecrets.issue({
      agentKey: bearerToken(authorization) ?? schemeToken(authorization) ?? '',
      use: 'deepgram',
      seconds: body.ttl_seconds,
      model: undefined,
      session: undefined,
    });
    return ok({ access_token: value, expires_in: body.ttl_seconds });
  },
});
