import { z } from 'zod';
import { fewMembers } from '../../kernel/json/few-members.ts';
import { LIMITS } from '../../kernel/limits.ts';

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'] as const;

/** What an agent wants sent. Clients send null where they have nothing, and objects where they mean JSON. */
export const ProxyRequest = z.object({
  // Whether it may be called is the guard's to say, in its own words.
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
