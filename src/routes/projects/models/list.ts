import { z } from 'zod';
import { ok, route } from '../../../http/route/route.ts';
import type { Clock } from '../../../kernel/clock.ts';
import type { Catalogue } from '../../../models/catalogue/catalogue.ts';
import { livingFirst } from '../../../models/catalogue/retirement.ts';
import { modelsOfSound } from '../../../protocols/deepgram/describe-models.ts';

const Params = z.object({ projectId: z.string().max(128) });

/**
 * Lists the speech models in the shape of Deepgram's project models. There are no projects here: each project id lists all
 * models.
 */
export const listProjectModels = route<{ catalogue: Catalogue; clock: Clock }>()({
  method: 'GET',
  path: '/v1/projects/:projectId/models',
  credential: 'any',
  summary: 'List the models of sound, for clients of Deepgram',
  envelope: 'deepgram',
  acceptsTokenScheme: true,
  rateLimit: 'none',
  params: Params,

  handle({ services: { catalogue, clock } }) {
    return ok(modelsOfSound(livingFirst(catalogue.models, clock.now())));
  },
});
