import { z } from 'zod';
import type { DeveloperKeys } from '../../../accounts/keys/developer-keys.ts';
import { developerKeyRecord } from '../../../accounts/keys/key.ts';
import { created, route } from '../../../http/route/route.ts';
import {
  DeveloperKeyBody,
  DeveloperKeyRecord,
  requireKeyBody,
  unreadableKeyBody,
} from './key-shape.ts';

/** Issues a developer key. Without `permissions` it may only read. */
export const createDeveloperKey = route<{ developerKeys: DeveloperKeys }>()({
  method: 'POST',
  path: '/v1/developer/keys',
  credential: 'management',
  summary: 'Create a developer key; the secret is shown once',
  right: 'account',
  body: DeveloperKeyBody,
  badJson: unreadableKeyBody,
  status: 201,
  response: DeveloperKeyRecord.extend({ key: z.string() }),

  async handle({ caller, body, services }) {
    const { label, permissions, expiresAt } = requireKeyBody(body);
    const { record, secret } = await services.developerKeys.create(caller, {
      label: label ?? undefined,
      permissions,
      expiresAt: expiresAt ?? undefined,
    });
    return created({ ...developerKeyRecord(record), key: secret });
  },
});
