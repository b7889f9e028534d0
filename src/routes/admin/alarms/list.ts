import { z } from 'zod';
import { ok, route } from '../../../http/route/route.ts';
import type { OperatorReports } from '../../../reports/operator/operator-reports.ts';

/** Lists the alarms that are red, and since when. */
export const adminListAlarms = route<{ operatorReports: OperatorReports }>()({
  method: 'GET',
  path: '/v1/admin/alarms',
  credential: 'admin',
  summary: 'List the alarms that are red',
  response: z.object({
    checkedAt: z.string(),
    alarms: z.array(z.object({ name: z.string(), since: z.string(), count: z.number() })),
  }),

  async handle({ services }) {
    return ok(await services.operatorReports.alarms());
  },
});
