import { z } from 'zod';
import type { Invites } from '../../../../accounts/management/team/invites.ts';
import { ok, route } from '../../../../http/route/route.ts';
import { DeliveredInvite, Email, InvitedRoleName } from '../team-shape.ts';

/** Invites an address to the account. The invite is mailed; a mail that fails does not undo it. */
export const createInvite = route<{ invites: Invites }>()({
  method: 'POST',
  path: '/v1/developer/team/invites',
  credential: 'management',
  summary: 'Invite an address to the account',
  right: 'team',
  rateLimit: 'invite',
  body: z.object({ email: Email, role: InvitedRoleName }),
  response: DeliveredInvite,

  async handle({ body, caller, services }) {
    return ok(await services.invites.create(caller, body));
  },
});
