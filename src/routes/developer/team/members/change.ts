import { z } from 'zod';
import type { Team } from '../../../../accounts/management/team/team.ts';
import { ok, route } from '../../../../http/route/route.ts';
import { MemberParams, RoleName } from '../team-shape.ts';

/** Gives a member another role. */
export const changeMember = route<{ team: Team }>()({
  method: 'PATCH',
  path: '/v1/developer/team/members/:wallet',
  credential: 'management',
  summary: 'Give a member another role',
  right: 'team',
  params: MemberParams,
  body: z.object({ role: RoleName }),
  response: z.object({
    ok: z.literal(true),
    memberWallet: z.string(),
    role: RoleName,
    revokedKeys: z.number(),
  }),

  async handle({ body, caller, params, services }) {
    return ok(await services.team.setRole(caller, params.wallet, body.role));
  },
});
