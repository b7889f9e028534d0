import { ok, route } from '../../http/route/route.ts';
import type { Activity } from '../../reports/activity/activity.ts';
import { ActivityPage, ActivityQuery, activityFilter } from '../developer/activity-shape.ts';

/** Lists everything that moved money of the calling agent, newest first, in pages. A closed agent may still read it. */
export const ownActivity = route<{ activity: Activity }>()({
  method: 'GET',
  path: '/v1/agents/activity',
  credential: 'agent',
  summary: 'Everything that moved money of the calling agent, newest first',
  admitsClosed: true,
  rateLimit: 'control',
  query: ActivityQuery,
  response: ActivityPage,

  async handle({ caller, query, services }) {
    const { accountId, agentId } = caller;
    return ok(await services.activity.page(accountId, { ...activityFilter(query), agentId }));
  },
});
