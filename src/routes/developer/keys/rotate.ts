import { z } from 'zod';
import type { DeveloperKeys } from '../../../accounts/keys/developer-keys.ts';
import { developerKeyRecord } from '../../../accounts/keys/key.ts';
import { created, route } from '../../../http/route/route.ts';
import { RowId } from '../../row-id.ts';
import {
  DeveloperKeyBody,
  DeveloperKeyRecord,
  requireKeyBody,
  unreadableKeyBody,
} from './key-shape.ts';

/** Replaces a developer key by a new key in one step. Absent members are copied from the old key. */
export const rotateDeveloperKey = route<{ developerKeys: DeveloperKeys }>()({
  method: 'POST',
  path: '/v1/developer/keys/:keyId/rotate',
  credential: 'management',
  summary: 'Revoke a developer key and issue its successor atomically',
  right: 'account',
  params: z.object({ keyId: RowId }),
  body: DeveloperKeyBody,
  badJson: unreadableKeyBody,
  status: 201,
  response: DeveloperKeyRecord.extend({ key: z.string() }),

  async handle({ caller, params, body, services }) {
    const { label, permissions } = requireKeyBody(body);
    const wanted = { label: label ?? undefined, permissions };
    const { record, secret } = await services.developerKeys.rotate(caller, params.keyId, wanted);
    return created({ ...developerKeyRecord(record), key: secret });
  },
});
