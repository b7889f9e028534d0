import { z } from 'zod';
import { route } from '../../http/route/route.ts';
import { gatewayErrors } from '../../models/errors.ts';
import { MODEL_LIMITS } from '../../models/limits.ts';

const Params = z.object({
  id: z.string().min(1).max(MODEL_LIMITS.idChars),
  action: z.string().min(1).max(MODEL_LIMITS.idChars),
});

/** Refuses a session over WebRTC. The error names the address of sessions over a WebSocket. */
export const createMediaSession = route()({
  method: 'POST',
  path: '/v1/live/sessions',
  credential: 'agent',
  summary: 'Live sessions over WebRTC, which are not served',
  envelope: 'openai',
  rateLimit: 'gateway',

  handle() {
    throw gatewayErrors.unsupportedTransport();
  },
});

/** Refuses to accept, refer, hang up or fork: only sessions over SIP and WebRTC have these controls. */
export const controlMediaSession = route()({
  method: 'POST',
  path: '/v1/live/sessions/:id/:action',
  credential: 'agent',
  summary: 'Control of live sessions over WebRTC and SIP, which are not served',
  envelope: 'openai',
  rateLimit: 'gateway',
  params: Params,

  handle() {
    throw gatewayErrors.unsupportedTransport();
  },
});

/** Refuses a second connection to a session, and the recording of a session. */
export const readMediaSession = route()({
  method: 'GET',
  path: '/v1/live/sessions/:id/:action',
  credential: 'agent',
  summary: 'Second connections to live sessions and recordings of them, which are not served',
  envelope: 'openai',
  rateLimit: 'gateway',
  params: Params,

  handle() {
    throw gatewayErrors.unsupportedTransport();
  },
});
