import { z } from 'zod';
import type { DeveloperKeys } from '../../../accounts/keys/developer-keys.ts';
import { ok, route } from '../../../http/route/route.ts';
import { RowId } from '../../row-id.ts';

/** Revokes a developer key at once. A repeated request gets 404. */
export const revokeDeveloperKey = route<{ developerKeys: DeveloperKeys }>()({
  method: 'DELETE',
  path: '/v1/developer/keys/:keyId',
  credential: 'management',
  summary: 'Revoke a developer key',
  right: 'account',
  params: z.object({ keyId: RowId }),
  response: z.object({ message: z.string(), deleted: z.literal(true), keyId: z.string() }),

  async handle({ caller, params, services }) {
    await services.developerKeys.revoke(caller, params.keyId);
    return ok({ message: 'API key revoked', deleted: true, keyId: String(params.keyId) });
  },
});
