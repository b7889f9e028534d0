import { z } from 'zod';
import {
  isProviderKey,
  PROVIDER_KEY_RULE,
  providerKeyRecord,
} from '../../../accounts/provider-keys/provider-key.ts';
import type { ProviderKeys } from '../../../accounts/provider-keys/provider-keys.ts';
import { ok, route } from '../../../http/route/route.ts';
import { keyRequest } from '../keys/key-shape.ts';
import { ProviderKeyRecord, ProviderParams } from './provider-key-shape.ts';

/** Stores or replaces the account's key at a provider. Calls to the provider's models are then made with this key. */
export const setProviderKey = route<{ providerKeys: ProviderKeys }>()({
  method: 'PUT',
  path: '/v1/developer/provider-keys/:provider',
  credential: 'management',
  summary: "Store the account's own key at a provider",
  right: 'account',
  params: ProviderParams,
  body: z.object({
    key: z.string().trim().refine(isProviderKey, { message: PROVIDER_KEY_RULE }),
    label: keyRequest.label,
  }),
  response: ProviderKeyRecord,

  async handle({ caller, params, body, services }) {
    return ok(providerKeyRecord(await services.providerKeys.set(caller, params.provider, body)));
  },
});
