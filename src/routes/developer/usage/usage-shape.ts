import { z } from 'zod';
import { USAGE_WINDOWS } from '../../../reports/account/account-reports.ts';

export const UsageSummary = z.object({
  window: z.enum(USAGE_WINDOWS),
  calls: z.number(),
  errorRatePct: z.number(),
  p50LatencyMs: z.number().nullable(),
  policiesTripped: z.number(),
});
