import { z } from 'zod';
import { ok, route } from '../../../http/route/route.ts';
import { STAGES } from '../../../ledger/rules/session-summary.ts';
import type { Attribution } from '../../../spend/attribution/attribution.ts';
import { SPEND_LIMITS } from '../../../spend/limits.ts';

const { default: usual, max } = SPEND_LIMITS.report.charges;

const Stage = z.object({ count: z.number(), meanMs: z.number(), maxMs: z.number() });

/** Figures of a live session; null when its process died and left its journal alone. */
const Summary = z.object({
  turns: z.number(),
  interruptions: z.number(),
  heardSeconds: z.number(),
  spokenSeconds: z.number(),
  stages: z.partialRecord(z.enum(STAGES), Stage),
  jitterMs: z.number().nullable(),
  jitterMaxMs: z.number().nullable(),
  underruns: z.number().nullable(),
  underrunMs: z.number().nullable(),
});

/** Lists the latest ledger rows with a cost, over all agents of the account, newest first. */
export const recentCharges = route<{ attribution: Attribution }>()({
  method: 'GET',
  path: '/v1/developer/charges/recent',
  credential: 'management',
  summary: 'What was charged last, and how the sessions went',
  query: z.object({
    limit: z
      .string()
      .regex(/^\d{1,9}$/, 'must be a whole number')
      .default(String(usual))
      .transform(Number)
      .refine((limit) => limit >= 1 && limit <= max, `must be 1 to ${max}`),
  }),
  response: z.object({
    charges: z.array(
      z.object({
        time: z.string(),
        agentId: z.number(),
        agentName: z.string(),
        vendor: z.string(),
        endpoint: z.string(),
        amountRaw: z.string(),
        session: z
          .object({
            id: z.string(),
            kind: z.string(),
            reason: z.string(),
            summary: Summary.nullable(),
          })
          .optional(),
      }),
    ),
    limit: z.number(),
  }),

  async handle({ caller, query, services }) {
    return ok(await services.attribution.recentCharges(caller.accountId, query.limit));
  },
});
