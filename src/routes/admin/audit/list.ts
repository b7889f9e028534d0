import { z } from 'zod';
import type { AuditTrail } from '../../../accounts/audit/admin-acts.ts';
import { ok, route } from '../../../http/route/route.ts';
import { AdminPage, adminCursor, readAdminCursor } from '../admin-page.ts';

const ACT_ID = /^[1-9]\d{0,17}$/;

/** Lists the operator's acts, newest first, in pages. */
export const adminListActs = route<{ auditTrail: AuditTrail }>()({
  method: 'GET',
  path: '/v1/admin/audit',
  credential: 'admin',
  summary: "List the operator's acts",
  query: AdminPage,
  response: z.object({
    acts: z.array(
      z.object({
        id: z.string(),
        at: z.string(),
        act: z.string(),
        target: z.string(),
        detail: z.record(z.string(), z.unknown()),
        requestId: z.string(),
        clientAddress: z.string(),
      }),
    ),
    nextCursor: z.string().nullable(),
  }),

  async handle({ query, services }) {
    const before = readAdminCursor(query.cursor, ACT_ID);
    const beforeId = before === undefined ? undefined : BigInt(before);
    const { acts, next } = await services.auditTrail.list({ beforeId, limit: query.limit });
    return ok({
      acts: acts.map(({ at, id, ...act }) => ({
        ...act,
        id: String(id),
        at: at.toISOString(),
      })),
      nextCursor: adminCursor(next?.toString()),
    });
  },
});
