import { z } from 'zod';
import type { Developers } from '../../accounts/management/developers.ts';
import { ok, route } from '../../http/route/route.ts';
import { AgentRecord } from './agents/agent-shape.ts';
import { DeveloperRecord } from './developer-shape.ts';
import { RoleName } from './team/team-shape.ts';

/** Reads the account that the credential acts for, with the caller's role in it, its agents and their usage. */
export const developerProfile = route<{ developers: Developers }>()({
  method: 'GET',
  path: '/v1/developer/profile',
  credential: 'management',
  summary: 'The account, its agents and its usage',
  response: z.object({
    developer: DeveloperRecord.extend({
      role: RoleName,
      aiToolConnectedAt: z.string().nullable(),
    }),
    agents: z.array(AgentRecord.extend({ creditUsed: z.string() })),
    walletAddress: z.string(),
    displayName: z.string().nullable(),
    registeredAt: z.string(),
    usage: z.object({ totalRequests: z.number(), totalSpentRaw: z.string() }),
  }),

  async handle({ caller, services }) {
    return ok(await services.developers.profile(caller));
  },
});
