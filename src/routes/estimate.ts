import { z } from 'zod';
import { ok, route } from '../http/route/route.ts';
import type { Catalogue } from '../models/catalogue/catalogue.ts';
import { estimatePrice } from '../models/catalogue/price-estimate.ts';
import { MODEL_LIMITS } from '../models/limits.ts';
import { SPEND_LIMITS } from '../spend/limits.ts';

const count = z.number().int().min(0).max(SPEND_LIMITS.awareness.estimateQuantity).nullish();

/** Usage for which a price is estimated. An absent quantity counts as 0. */
export const EstimateRequest = z.object({
  model: z.string().min(1).max(MODEL_LIMITS.idChars),
  input_tokens: count,
  output_tokens: count,
  cached_input_tokens: count,
  characters: count,
  audio_seconds: z
    .number()
    .min(0)
    .max(SPEND_LIMITS.awareness.estimateQuantity)
    .transform(wholeMillis)
    .nullish(),
  audio_input_tokens: count,
  audio_output_tokens: count,
});

/** Rounds seconds of audio up to whole milliseconds, the unit by which audio is billed. */
function wholeMillis(seconds: number): number {
  // Rounds to microseconds first: a binary fraction such as 0.1 + 0.2 would otherwise be rounded up by a whole millisecond.
  return Math.ceil(Math.round(seconds * 1_000_000) / 1_000) / 1_000;
}

/** Prices a call without making it. Each quantity of the request is priced apart from the others. */
export const estimate = route<{ catalogue: Catalogue }>()({
  method: 'POST',
  path: '/v1/estimate',
  credential: 'any',
  summary: 'Price a usage vector without buying anything',
  envelope: 'openai',
  permission: 'read',
  rateLimit: 'none',
  body: EstimateRequest,
  response: z.object({
    model: z.string(),
    rail: z.string(),
    provider: z.string(),
    margin_bps: z.number(),
    usage: z.record(z.string(), z.number()),
    upstream_cost_usdc: z.string(),
    cost_usdc: z.string(),
    cost_raw: z.string(),
  }),

  handle({ body, services }) {
    return ok(
      estimatePrice(services.catalogue, body.model, {
        text_input_token: body.input_tokens ?? 0,
        text_output_token: body.output_tokens ?? 0,
        cached_input_token: body.cached_input_tokens ?? 0,
        character: body.characters ?? 0,
        audio_second: body.audio_seconds ?? 0,
        audio_input_token: body.audio_input_tokens ?? 0,
        audio_output_token: body.audio_output_tokens ?? 0,
      }),
    );
  },
});
