import { z } from 'zod';

export const MonthToDate = z.object({
  totalRaw: z.string(),
  byVendor: z.array(z.object({ vendor: z.string(), costRaw: z.string() })),
  byAgent: z.array(
    z.object({
      agentId: z.number(),
      agentName: z.string(),
      costRaw: z.string(),
      calls: z.number(),
    }),
  ),
});
