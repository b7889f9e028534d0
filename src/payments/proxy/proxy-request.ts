import { z } from 'zod';
import { fewMembers } from '../../kernel/json/few-members.ts';
import { LIMITS } from '../../kernel/limits.ts';

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'] as const;

/** Request of an agent for the proxy to send. Clients send null for absent fields, and objects as JSON bodies. */
export const ProxyRequest = z.object({
  // The destination guard decides later whether the URL may be called, with refusals of its own.
  url: z
    .string()
    .max(LIMITS.outboundUrlChars)
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
    LIMITS.outboundRequestHeaders,
    `must have at most ${LIMITS.outboundRequestHeaders} headers`,
  )
    .nullish()
    .transform((headers) => headers ?? {}),
  body: z
    .union([z.string(), z.record(z.string(), z.unknown()), z.array(z.unknown())])
    .nullish()
    .describe('A string is sent as it is, an object or a list as JSON'),
});

export type ProxyRequest = z.output<typeof ProxyRequest>;
