import { z } from 'zod';

export const CoverageQuery = z.object({ days: z.string().optional() });

export const Coverage = z.object({
  days: z.number(),
  totals: z.object({
    knownRaw: z.string(),
    enforceableRaw: z.string(),
    reconciledRaw: z.string(),
    coverageBps: z.number().nullable(),
  }),
  bySource: z.array(
    z.object({
      source: z.string(),
      class: z.enum(['enforceable', 'reconciled']),
      calls: z.number(),
      costRaw: z.string(),
    }),
  ),
  series: z.array(
    z.object({ date: z.string(), enforceableRaw: z.string(), reconciledRaw: z.string() }),
  ),
  calls: z.object({
    total: z.number(),
    enforceable: z.number(),
    reconciled: z.number(),
    byok: z.number(),
  }),
  dark: z.literal('unknown'),
});
