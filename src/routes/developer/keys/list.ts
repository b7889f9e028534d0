import { z } from 'zod';
import type { DeveloperKeys } from '../../../accounts/keys/developer-keys.ts';
import { developerKeyRecord } from '../../../accounts/keys/key.ts';
import { ok, route } from '../../../http/route/route.ts';
import { DeveloperKeyRecord } from './key-shape.ts';

/** Lists the working developer keys of the account, with the prefix of each secret only. */
export const listDeveloperKeys = route<{ developerKeys: DeveloperKeys }>()({
  method: 'GET',
  path: '/v1/developer/keys',
  credential: 'management',
  summary: 'List developer keys, prefixes only',
  response: z.object({ keys: z.array(DeveloperKeyRecord) }),

  async handle({ caller, services }) {
    const keys = await services.developerKeys.list(caller);
    return ok({ keys: keys.map(developerKeyRecord) });
  },
});
