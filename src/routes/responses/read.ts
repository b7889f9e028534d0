import { z } from 'zod';
import { okInTurns } from '../../http/route/ok-in-turns.ts';
import { route } from '../../http/route/route.ts';
import { gatewayErrors } from '../../models/errors.ts';
import type { Responses } from '../../models/responses/responses.ts';
import { ResponseParams, ResponseRecord } from './response-shape.ts';

/** Reads a stored response, or a response whose stream is open in this process. The answer is whole: no stream is resumed. */
export const readResponse = route<{ responses: Responses }>()({
  method: 'GET',
  path: '/v1/responses/:id',
  credential: 'agent',
  summary: 'Read a response',
  envelope: 'openai',
  params: ResponseParams,
  query: z.object({ stream: z.enum(['true', 'false']).optional() }),
  response: ResponseRecord,

  async handle({ caller, params, query, services }) {
    if (query.stream === 'true') {
      throw gatewayErrors.invalidRequest(
        'Only responses in the background are streamed again, and this server makes none.',
        'stream',
      );
    }
    return okInTurns(await services.responses.read(caller.agentId, params.id));
  },
});
