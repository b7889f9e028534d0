import { ok, route } from '../../../http/route/route.ts';
import type { Exports } from '../../../reports/export/exports.ts';

/** Streams the amounts of this UTC month as CSV, oldest first. */
export const billingExport = route<{ exports: Exports }>()({
  method: 'GET',
  path: '/v1/developer/billing/export.csv',
  credential: 'management',
  summary: 'Amounts of this month as CSV',

  async handle({ caller, onOver, services }) {
    return ok(await services.exports.month(caller.accountId, onOver), {
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': 'attachment; filename="export.csv"',
    });
  },
});
