import { z } from 'zod';
import type { Invites } from '../../../../accounts/management/team/invites.ts';
import { ok, route } from '../../../../http/route/route.ts';
import { InviteRecord } from '../team-shape.ts';

/** Lists the open invites of the account, without their tokens. */
export const listInvites = route<{ invites: Invites }>()({
  method: 'GET',
  path: '/v1/developer/team/invites',
  credential: 'management',
  summary: 'List the open invites of the account',
  response: z.object({ invites: z.array(InviteRecord.extend({ invitedBy: z.string() })) }),

  async handle({ caller, services }) {
    return ok({ invites: await services.invites.list(caller.accountId) });
  },
});
