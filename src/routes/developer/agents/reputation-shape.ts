import { z } from 'zod';

export const Reputation = z.object({
  score: z.number(),
  band: z.enum(['A', 'B', 'C', 'D', 'E']),
  confidence: z.number(),
  modelVersion: z.string(),
  collateralMultiplierBps: z.number(),
  computedAt: z.string(),
});
