import { z } from 'zod';
import { fewMembers } from '../../kernel/json/few-members.ts';
import { EGRESS_LIMITS } from '../../platform/egress/limits.ts';

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'] as const;

/** Request of an agent for the proxy to send. Clients send null for absent fields, and objects as JSON bodies. */
export const ProxyRequest = z.object({
  // The destination guard decides later whether the URL may be called, with refusals of its own.
  url: z
    .string()
    .max(EGRESS_LIMITS.address.urlChars)
    .refine((text) => URL.canParse(text), 'must be an absolute URL')
    .describe('Where the request goes'),
  method: z
    .string()
    .meta({ enum: METHODS, description: 'In any case; GET where it is absent' })
    .nullish()
    .transform((text) => (text ?? 'GET').toUpperCase())
    .pipe(z.enum(METHODS)),
  headers: fewMembers(
    z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
    EGRESS_LIMITS.request.headers,
    `must have at most ${EGRESS_LIMITS.request.headers} headers`,
  )
    .nullish()
    .transform((headers) => headers ?? {}),
  body: z
    .union([z.string(), z.record(z.string(), z.unknown()), z.array(z.unknown())])
    .nullish()
    .describe('A string is sent as it is, an object or a list as JSON'),
});

export type ProxyRequest = z.output<typeof ProxyRequest>;
