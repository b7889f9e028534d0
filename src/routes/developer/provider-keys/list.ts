import { z } from 'zod';
import { providerKeyRecord } from '../../../accounts/provider-keys/provider-key.ts';
import type { ProviderKeys } from '../../../accounts/provider-keys/provider-keys.ts';
import { ok, route } from '../../../http/route/route.ts';
import { ProviderKeyRecord } from './provider-key-shape.ts';

/** Lists the account's provider keys, without the secrets, and the providers for which a key can be stored. */
export const listProviderKeys = route<{ providerKeys: ProviderKeys }>()({
  method: 'GET',
  path: '/v1/developer/provider-keys',
  credential: 'management',
  summary: 'List stored provider keys, prefixes only',
  response: z.object({
    providerKeys: z.array(ProviderKeyRecord),
    supportedProviders: z.array(z.string()),
  }),

  async handle({ caller, services }) {
    const keys = await services.providerKeys.list(caller.accountId);
    const supportedProviders = services.providerKeys.supported;
    return ok({ providerKeys: keys.map(providerKeyRecord), supportedProviders });
  },
});
