import { z } from 'zod';
import type { Team } from '../../../../accounts/management/team/team.ts';
import { ok, route } from '../../../../http/route/route.ts';
import { MemberParams } from '../team-shape.ts';

/** Ends a membership with its keys. Any member may leave; removing another member takes an owner or admin. */
export const removeMember = route<{ team: Team }>()({
  method: 'DELETE',
  path: '/v1/developer/team/members/:wallet',
  credential: 'management',
  summary: 'Remove a member with the keys that the member issued',
  right: 'leave',
  params: MemberParams,
  response: z.object({
    ok: z.literal(true),
    memberWallet: z.string(),
    revokedKeys: z.number(),
  }),

  async handle({ caller, params, services }) {
    return ok(await services.team.remove(caller, params.wallet));
  },
});
