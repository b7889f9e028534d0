import { z } from 'zod';
import { ok, route } from '../../../http/route/route.ts';
import type { AccountReports } from '../../../reports/account/account-reports.ts';
import { MonthToDate } from './billing-shape.ts';

const USDC = { currency: 'USDC', decimals: 6 } as const;

/** Returns the spend of this UTC month so far as an invoice. */
export const billingInvoice = route<{ reports: AccountReports }>()({
  method: 'GET',
  path: '/v1/developer/billing/invoice',
  credential: 'management',
  summary: 'Spend of this month as an invoice',
  response: MonthToDate.extend({
    period: z.object({ start: z.string(), end: z.string() }),
    currency: z.literal('USDC'),
    decimals: z.literal(6),
  }),

  async handle({ caller, services }) {
    return ok(Object.assign(await services.reports.monthToDate(caller.accountId), USDC));
  },
});
