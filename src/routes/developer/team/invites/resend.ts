import type { Invites } from '../../../../accounts/management/team/invites.ts';
import { ok, route } from '../../../../http/route/route.ts';
import { DeliveredInvite, InviteParams } from '../team-shape.ts';

/** Sends an open invite again with another token, for another seven days. The token before is void. */
export const resendInvite = route<{ invites: Invites }>()({
  method: 'POST',
  path: '/v1/developer/team/invites/:inviteId/resend',
  credential: 'management',
  summary: 'Send an open invite again, with another token',
  right: 'team',
  rateLimit: 'invite',
  params: InviteParams,
  response: DeliveredInvite,

  async handle({ caller, params, services }) {
    return ok(await services.invites.resend(caller, params.inviteId));
  },
});
