import { z } from 'zod';
import { ok, route } from '../../../http/route/route.ts';
import type { Connections } from '../../../orchestrators/connections.ts';
import { ConnectionRecord, shownConnection } from './connection-shape.ts';

/** Lists the account's connections to voice platforms, without their secrets. */
export const listOrchestrators = route<{ orchestrators: Connections; publicOrigin: string }>()({
  method: 'GET',
  path: '/v1/developer/orchestrators',
  credential: 'management',
  summary: 'List the connections to voice platforms',
  // The list shows the URLs, which are secrets.
  right: 'work',
  response: z.object({ connections: z.array(ConnectionRecord) }),

  async handle({ caller, headers, services }) {
    const { orchestrators, publicOrigin } = services;
    const found = await orchestrators.list(caller.accountId);
    const shown = found.map((connected) => shownConnection(connected, { headers, publicOrigin }));
    return ok({ connections: shown });
  },
});
