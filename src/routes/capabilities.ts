import { z } from 'zod';
import { ok, route } from '../http/route/route.ts';
import { API_VERSION } from '../http/server/api-version.ts';

/** Features of this server in its configuration; clients disable the controls of a false feature. */
export type Capabilities = {
  readonly gateway: boolean;
  readonly llmProxy: boolean;
  readonly telephony: boolean;
  readonly onrampHeadless: boolean;
  readonly x402Facilitator: boolean;
};

export const capabilities = route<{ capabilities: Capabilities }>()({
  method: 'GET',
  path: '/v1/capabilities',
  credential: 'none',
  summary: 'What this server can do as it is configured',
  response: z.object({ version: z.string(), capabilities: z.record(z.string(), z.boolean()) }),

  handle: ({ services }) => ok({ version: API_VERSION, capabilities: services.capabilities }),
});
