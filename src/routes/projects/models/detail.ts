import { z } from 'zod';
import { ok, route } from '../../../http/route/route.ts';
import type { Catalogue } from '../../../models/catalogue/catalogue.ts';
import { gatewayErrors } from '../../../models/errors.ts';
import { MODEL_LIMITS } from '../../../models/limits.ts';
import { describeListed, findListed } from '../../../protocols/deepgram/describe-models.ts';

const Params = z.object({
  projectId: z.string().max(128),
  modelId: z.string().max(MODEL_LIMITS.idChars),
});

/** Describes one speech model, by its UUID or its name, in Deepgram's shape. */
export const projectModel = route<{ catalogue: Catalogue }>()({
  method: 'GET',
  path: '/v1/projects/:projectId/models/:modelId',
  credential: 'any',
  summary: 'Describe one model of sound, for clients of Deepgram',
  envelope: 'deepgram',
  acceptsTokenScheme: true,
  rateLimit: 'none',
  params: Params,

  handle({ params: { modelId }, services: { catalogue } }) {
    const model = findListed(catalogue.models, modelId);
    if (model === undefined) {
      throw gatewayErrors.modelNotFound(modelId, catalogue.suggest(modelId));
    }
    return ok(describeListed(model));
  },
});
