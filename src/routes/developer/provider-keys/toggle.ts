import { z } from 'zod';
import type { ProviderKeys } from '../../../accounts/provider-keys/provider-keys.ts';
import { ok, route } from '../../../http/route/route.ts';
import { ProviderParams } from './provider-key-shape.ts';

/** Enables or disables a stored provider key. */
export const toggleProviderKey = route<{ providerKeys: ProviderKeys }>()({
  method: 'PATCH',
  path: '/v1/developer/provider-keys/:provider',
  credential: 'management',
  summary: 'Switch a stored provider key on or off',
  right: 'account',
  params: ProviderParams,
  body: z.object({ enabled: z.boolean() }),
  response: z.object({ provider: z.string(), enabled: z.boolean() }),

  async handle({ caller, params, body, services }) {
    await services.providerKeys.toggle(caller, params.provider, body.enabled);
    return ok({ provider: params.provider, enabled: body.enabled });
  },
});
