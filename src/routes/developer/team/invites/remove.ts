import { z } from 'zod';
import type { Invites } from '../../../../accounts/management/team/invites.ts';
import { ok, route } from '../../../../http/route/route.ts';
import { InviteParams } from '../team-shape.ts';

/** Deletes an open invite. Its token opens nothing from then on. */
export const removeInvite = route<{ invites: Invites }>()({
  method: 'DELETE',
  path: '/v1/developer/team/invites/:inviteId',
  credential: 'management',
  summary: 'Delete an open invite',
  right: 'team',
  params: InviteParams,
  response: z.object({ ok: z.literal(true) }),

  async handle({ caller, params, services }) {
    await services.invites.remove(caller.accountId, params.inviteId);
    return ok({ ok: true });
  },
});
