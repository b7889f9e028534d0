import { z } from 'zod';
import { ok, route } from '../../../http/route/route.ts';
import type { Connections } from '../../../orchestrators/connections.ts';
import { ConnectionParams } from './connection-shape.ts';

/** Switches a connection on or off. While it is off, its URLs answer 404. */
export const changeOrchestrator = route<{ orchestrators: Connections }>()({
  method: 'PATCH',
  path: '/v1/developer/orchestrators/:id',
  credential: 'management',
  summary: 'Switch a connection to a voice platform on or off',
  params: ConnectionParams,
  body: z.object({ active: z.boolean() }),
  response: z.object({ ok: z.literal(true), active: z.boolean() }),

  async handle({ body, caller, params, services }) {
    await services.orchestrators.toggle(
      { accountId: caller.accountId, id: params.id },
      body.active,
    );
    return ok({ ok: true, active: body.active });
  },
});
