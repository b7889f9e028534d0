import { z } from 'zod';
import { ok, route } from '../../../http/route/route.ts';
import type { OperatorReports } from '../../../reports/operator/operator-reports.ts';

/** Lists the processes on this database: version, start and the work that each has open. */
export const adminListProcesses = route<{ operatorReports: OperatorReports }>()({
  method: 'GET',
  path: '/v1/admin/processes',
  credential: 'admin',
  summary: 'List the processes and their live work',
  response: z.object({
    processes: z.array(
      z.object({
        nodeId: z.string(),
        version: z.string().nullable(),
        startedAt: z.string().nullable(),
        leaseUntil: z.string(),
        isRunning: z.boolean(),
        /** Open requests and sockets at the last renewal of the lease. Null before the first renewal. */
        openRequests: z.number().nullable(),
        openSockets: z.number().nullable(),
        liveSessions: z.number(),
        openHolds: z.number(),
      }),
    ),
  }),

  async handle({ services }) {
    return ok(await services.operatorReports.processes());
  },
});
