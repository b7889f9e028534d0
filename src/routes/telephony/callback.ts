import { z } from 'zod';
import { route, streamedBody } from '../../http/route/route.ts';
import type { CarrierHooks } from '../../phone/calls/calls.ts';
import { phoneErrors } from '../../phone/errors.ts';
import { PHONE_LIMITS } from '../../phone/limits.ts';

/** Takes a report or a question of a carrier. It is believed only when the carrier has signed it. */
export const carrierCallback = route<{ carrierHooks: CarrierHooks; publicOrigin: string }>()({
  method: 'POST',
  path: '/v1/telephony/:carrier/:hook',
  credential: 'carrier',
  summary: 'Callback of a carrier',
  rateLimit: 'none',
  params: z.object({ carrier: z.string(), hook: z.string() }),
  body: streamedBody('*/*'),
  maxBodyBytes: PHONE_LIMITS.carrier.callbackBytes,

  async handle({ body, caller, headers, params, services, url }) {
    const { contentType, status, ...answer } = await services.carrierHooks.callback(
      params.carrier,
      params.hook,
      {
        url: `${services.publicOrigin}${url}`,
        headers: Object.fromEntries(headers),
        readBody: () => readAll(body),
        believe: () => caller.believe(),
      },
    );
    return {
      status,
      body: Buffer.from(answer.body),
      headers: { 'content-type': contentType },
    };
  },
});

async function readAll(body: AsyncIterable<Uint8Array> | undefined): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of body ?? []) {
    bytes += piece.length;
    if (bytes > PHONE_LIMITS.carrier.callbackBytes) throw phoneErrors.malformedCallback('too long');
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}
