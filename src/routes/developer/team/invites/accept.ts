import { z } from 'zod';
import { teamErrors } from '../../../../accounts/errors.ts';
import type { Invites } from '../../../../accounts/management/team/invites.ts';
import { ok, route } from '../../../../http/route/route.ts';
import { InvitedRoleName } from '../team-shape.ts';

const MAX_TOKEN_CHARS = 128;

/** Makes the signed-in wallet a member of the account that the token's invite is for. A token works once. */
export const acceptInvite = route<{ invites: Invites }>()({
  method: 'POST',
  path: '/v1/developer/team/invites/accept',
  credential: 'management',
  summary: 'Join an account by the token of an invite',
  right: 'self',
  rateLimit: 'ip',
  body: z.object({ token: z.string().min(1).max(MAX_TOKEN_CHARS) }),
  response: z.object({
    ok: z.literal(true),
    accountWallet: z.string(),
    accountId: z.string(),
    role: InvitedRoleName,
  }),

  async handle({ body, caller, services }) {
    if (caller.via === 'developer_key') throw teamErrors.walletRequired();
    return ok(await services.invites.accept(caller.wallet, body.token));
  },
});
