import { z } from 'zod';
import { ok, route } from '../../../http/route/route.ts';
import type { OperatorReports } from '../../../reports/operator/operator-reports.ts';
import { AdminPage, adminCursor, readAdminCursor } from '../admin-page.ts';

const ACCOUNT = /^[\x21-\x7e]{1,64}$/;

/** Lists all accounts by id, in pages, each with its agents and its money. */
export const adminListDevelopers = route<{ operatorReports: OperatorReports }>()({
  method: 'GET',
  path: '/v1/admin/developers',
  credential: 'admin',
  summary: 'List the accounts of all developers',
  query: AdminPage,
  response: z.object({
    developers: z.array(
      z.object({
        accountId: z.string(),
        walletAddress: z.string(),
        displayName: z.string().nullable(),
        email: z.string().nullable(),
        createdAt: z.string(),
        agents: z.number(),
        openAgents: z.number(),
        spendableRaw: z.string(),
        heldRaw: z.string(),
        consumedRaw: z.string(),
        isTelephonySuspended: z.boolean(),
      }),
    ),
    nextCursor: z.string().nullable(),
  }),

  async handle({ query, services }) {
    const after = readAdminCursor(query.cursor, ACCOUNT) ?? '';
    const page = await services.operatorReports.developers({ after, limit: query.limit });
    return ok({ developers: page.developers, nextCursor: adminCursor(page.next) });
  },
});
