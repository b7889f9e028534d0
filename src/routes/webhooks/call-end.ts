import { route, streamedBody } from '../../http/route/route.ts';
import { ORCHESTRATOR_LIMITS } from '../../orchestrators/limits.ts';
import type { PlatformHooks } from '../../orchestrators/platform-hooks.ts';
import { PlatformParams, platformRequest } from './platform-request.ts';

/** Takes the report of a call that has ended. It is believed only when the platform has signed it. */
export const platformCallEnd = route<{ platformHooks: PlatformHooks }>()({
  method: 'POST',
  path: '/v1/webhooks/:provider/call-end/:token',
  credential: 'platform',
  summary: 'Report of a voice platform about a call that has ended',
  rateLimit: 'none',
  params: PlatformParams,
  body: streamedBody('*/*'),
  maxBodyBytes: ORCHESTRATOR_LIMITS.inbound.bodyBytes,

  async handle({ body, caller, headers, params, services }) {
    const request = platformRequest(params, { body, caller, headers });
    return { ...(await services.platformHooks.callEnd(request)), headers: {} };
  },
});
