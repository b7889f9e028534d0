import { z } from 'zod';
import type { Developers } from '../../accounts/management/developers.ts';
import { ok, route } from '../../http/route/route.ts';
import { AgentRecord } from './agents/agent-shape.ts';
import { DeveloperRecord } from './developer-shape.ts';

/** Reads the developer whom the credential belongs to, with the agents of the account and their usage. */
export const developerProfile = route<{ developers: Developers }>()({
  method: 'GET',
  path: '/v1/developer/profile',
  credential: 'management',
  summary: 'The account, its agents and its usage',
  response: z.object({
    developer: DeveloperRecord.extend({ role: z.string() }),
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
