import { z } from 'zod';
import { ok, route } from '../../../http/route/route.ts';
import type { Connections } from '../../../orchestrators/connections.ts';
import {
  ConnectionParams,
  ConnectionRecord,
  connectionRequest,
  shownConnection,
} from './connection-shape.ts';

/** Replaces URL and secret of a connection. The old ones fail at once. */
export const rotateOrchestrator = route<{ orchestrators: Connections; publicOrigin: string }>()({
  method: 'POST',
  path: '/v1/developer/orchestrators/:id/rotate',
  credential: 'management',
  summary: 'Replace the URL and the secret of a connection',
  params: ConnectionParams,
  body: z.object({ secret: connectionRequest.secret }),
  response: ConnectionRecord.extend({ secret: z.string().optional() }),

  async handle({ body, caller, headers, params, services }) {
    const { orchestrators, publicOrigin } = services;
    const place = { accountId: caller.accountId, id: params.id };
    const connected = await orchestrators.rotate(place, body.secret);
    return ok(shownConnection(connected, { headers, publicOrigin }));
  },
});
