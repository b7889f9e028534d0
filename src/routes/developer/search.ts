import { z } from 'zod';
import { ok, route } from '../../http/route/route.ts';
import { REPORT_LIMITS } from '../../reports/limits.ts';
import type { Search } from '../../reports/search/search.ts';

/** Says which objects of the account a text may be: an id, a hash, a number, the prefix of a key, a tag or a name. */
export const searchAccount = route<{ search: Search }>()({
  method: 'GET',
  path: '/v1/developer/search',
  credential: 'management',
  summary: 'Which object an id, hash, number, prefix, tag or name is',
  query: z.object({ q: z.string().trim().min(1).max(REPORT_LIMITS.search.textChars) }),
  response: z.object({
    results: z.array(
      z.object({
        kind: z.string(),
        id: z.string(),
        agentId: z.number().nullable(),
        path: z.string().nullable(),
      }),
    ),
  }),

  async handle({ caller, query, services }) {
    return ok(await services.search.find(caller.accountId, query.q));
  },
});
