import { ok, route } from '../../http/route/route.ts';
import type { Activity } from '../../reports/activity/activity.ts';
import { RowId } from '../row-id.ts';
import { ActivityPage, ActivityQuery, activityFilter } from './activity-shape.ts';

/** Lists everything that moved money of the account, newest first, in pages. */
export const listActivity = route<{ activity: Activity }>()({
  method: 'GET',
  path: '/v1/developer/activity',
  credential: 'management',
  summary: 'Everything that moved money of the account, newest first',
  query: ActivityQuery.extend({ agentId: RowId.optional(), apiKeyId: RowId.optional() }),
  response: ActivityPage,

  async handle({ caller, query, services }) {
    const { agentId, apiKeyId: keyId } = query;
    const filter = { ...activityFilter(query), agentId, keyId };
    return ok(await services.activity.page(caller.accountId, filter));
  },
});
