import { z } from 'zod';
import { ok, route } from '../../../http/route/route.ts';
import type { Connections } from '../../../orchestrators/connections.ts';
import { ConnectionParams } from './connection-shape.ts';

/** Deletes a connection. Calls that it has reported stay counted. */
export const removeOrchestrator = route<{ orchestrators: Connections }>()({
  method: 'DELETE',
  path: '/v1/developer/orchestrators/:id',
  credential: 'management',
  summary: 'Delete a connection to a voice platform',
  params: ConnectionParams,
  response: z.object({ ok: z.literal(true) }),

  async handle({ caller, params, services }) {
    await services.orchestrators.remove({ accountId: caller.accountId, id: params.id });
    return ok({ ok: true });
  },
});
