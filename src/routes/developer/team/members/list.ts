import { z } from 'zod';
import type { Team } from '../../../../accounts/management/team/team.ts';
import { ok, route } from '../../../../http/route/route.ts';
import { RoleName } from '../team-shape.ts';

/** Lists the members of the account, with the role of the caller. */
export const listMembers = route<{ team: Team }>()({
  method: 'GET',
  path: '/v1/developer/team/members',
  credential: 'management',
  summary: 'List the members of the account',
  response: z.object({
    members: z.array(
      z.object({
        memberWallet: z.string(),
        role: RoleName,
        displayName: z.string().nullable(),
        email: z.string().nullable(),
        invitedBy: z.string().nullable(),
        createdAt: z.string().nullable(),
        isSelf: z.boolean(),
      }),
    ),
    role: RoleName,
  }),

  async handle({ caller, services }) {
    return ok(await services.team.list(caller));
  },
});
