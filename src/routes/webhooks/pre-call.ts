import { z } from 'zod';
import { route, streamedBody } from '../../http/route/route.ts';
import { ORCHESTRATOR_LIMITS } from '../../orchestrators/limits.ts';
import type { PlatformHooks } from '../../orchestrators/platform-hooks.ts';
import { PlatformParams, platformRequest } from './platform-request.ts';

/** Answers whether a call may begin, in the form of each platform. */
export const platformPreCall = route<{ platformHooks: PlatformHooks }>()({
  method: 'POST',
  path: '/v1/webhooks/:provider/pre-call/:token',
  credential: 'platform',
  summary: 'Question of a voice platform whether a call may begin',
  rateLimit: 'none',
  params: PlatformParams,
  query: z.object({ assistantId: z.string().min(1).max(128).optional() }),
  body: streamedBody('*/*'),
  maxBodyBytes: ORCHESTRATOR_LIMITS.inbound.bodyBytes,

  async handle({ body, caller, headers, params, query, services }) {
    const request = platformRequest(params, { body, caller, headers });
    return { ...(await services.platformHooks.preCall(request, query.assistantId)), headers: {} };
  },
});
