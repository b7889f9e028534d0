import { z } from 'zod';
import type { ProviderKeys } from '../../../accounts/provider-keys/provider-keys.ts';
import { ok, route } from '../../../http/route/route.ts';
import { ProviderParams } from './provider-key-shape.ts';

/** Deletes a stored key for good. */
export const removeProviderKey = route<{ providerKeys: ProviderKeys }>()({
  method: 'DELETE',
  path: '/v1/developer/provider-keys/:provider',
  credential: 'management',
  summary: 'Delete a stored provider key',
  right: 'account',
  params: ProviderParams,
  response: z.object({ message: z.string() }),

  async handle({ caller, params, services }) {
    await services.providerKeys.remove(caller, params.provider);
    return ok({ message: 'Provider key deleted' });
  },
});
