import { z } from 'zod';
import { EGRESS_LIMITS } from '../platform/egress/limits.ts';

/** Address that a caller chose. The destination guard decides later whether it may be called, with an error of its own. */
export const TargetUrl = z
  .string()
  .max(EGRESS_LIMITS.address.urlChars)
  .refine((text) => URL.canParse(text), 'must be a URL');

/** Quantity and unit to which a price of the marketplace applies, such as 1 page. */
export const PricedUnit = z.object({
  quantity: z.number().int(),
  unit: z.enum(['character', 'second', 'page']),
});

/** Body that a call would send, as `POST /v1/proxy/fetch` takes it. It changes only prices of this server's marketplace. */
export const TargetBody = z
  .union([z.string(), z.record(z.string(), z.unknown())])
  .nullish()
  .transform((body) =>
    body === null || typeof body === 'object' ? JSON.stringify(body ?? {}) : body,
  )
  .describe('What the call would send; only the marketplace of this server counts it');

/** Method of the request that asks a target for its price. Absent: GET. */
export const TargetMethod = z
  .enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'])
  .nullish()
  .transform((method) => method ?? 'GET');
