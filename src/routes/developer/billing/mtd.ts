import { ok, route } from '../../../http/route/route.ts';
import type { AccountReports } from '../../../reports/account/account-reports.ts';
import { MonthToDate } from './billing-shape.ts';

/** Returns the spend of this UTC month so far, by vendor and by agent. */
export const billingMonthToDate = route<{ reports: AccountReports }>()({
  method: 'GET',
  path: '/v1/developer/billing/mtd',
  credential: 'management',
  summary: 'Spend of this month by vendor and by agent',
  response: MonthToDate,

  async handle({ caller, services }) {
    const { period: _, ...month } = await services.reports.monthToDate(caller.accountId);
    return ok(month);
  },
});
