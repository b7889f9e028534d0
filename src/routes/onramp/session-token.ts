import { z } from 'zod';
import { ok, route } from '../../http/route/route.ts';
import { PAYMENT_LIMITS } from '../../payments/limits.ts';
import type { Onramp } from '../../payments/ramp/onramp.ts';
import { Address, AgentId } from '../transfers/transfer-shape.ts';

/** Makes a token with which the provider's page opens for one purchase of USDC, into the developer's wallet. */
export const onrampSessionToken = route<{ onramp: Onramp }>()({
  method: 'POST',
  path: '/v1/onramp/session-token',
  credential: 'management',
  summary: 'Open a purchase of USDC at the on-ramp',
  body: z.object({
    destinationKind: z.enum(['embedded', 'external']),
    destinationAddress: Address,
    agentId: AgentId.nullish().transform((id) => id ?? undefined),
    destinationScope: z.enum(['agent', 'account']).default('agent'),
    presetFiatAmount: z
      .number()
      .positive()
      .max(PAYMENT_LIMITS.ramp.fiatMost)
      .nullish()
      .transform((amount) => amount ?? undefined),
  }),
  response: z.object({
    sessionToken: z.string(),
    channelId: z.string().nullable(),
    correlationId: z.string(),
    onrampId: z.string().nullable(),
    mode: z.literal('hosted'),
    nonCustodialAddress: z.string(),
    agentWalletAddress: z.string().nullable(),
  }),

  async handle({ caller: { accountId }, body, clientAddress: clientIp, services }) {
    return ok(await services.onramp.open({ accountId, clientIp }, body));
  },
});
