import { z } from 'zod';
import { created, route } from '../../../http/route/route.ts';
import type { Connections } from '../../../orchestrators/connections.ts';
import { ConnectionRecord, connectionRequest, shownConnection } from './connection-shape.ts';

/** Connects an agent to a voice platform. The secret is in this response only. */
export const connectOrchestrator = route<{ orchestrators: Connections; publicOrigin: string }>()({
  method: 'POST',
  path: '/v1/developer/orchestrators',
  credential: 'management',
  summary: 'Connect an agent to a voice platform',
  status: 201,
  body: z.object(connectionRequest),
  response: ConnectionRecord.extend({ secret: z.string() }),

  async handle({ body, caller, headers, services }) {
    const { orchestrators, publicOrigin } = services;
    const connected = await orchestrators.connect({ ...body, accountId: caller.accountId });
    return created(shownConnection(connected, { headers, publicOrigin }));
  },
});
