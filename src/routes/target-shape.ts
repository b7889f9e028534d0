import { z } from 'zod';
import { LIMITS } from '../kernel/limits.ts';

/** An address that a caller chose. Whether it may be called is the guard's to say, in its own words. */
export const TargetUrl = z
  .string()
  .max(LIMITS.outboundUrlChars)
  .refine((text) => URL.canParse(text), 'must be a URL');

/** With which verb a target is asked for its price. */
export const TargetMethod = z
  .enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'])
  .nullish()
  .transform((method) => method ?? 'GET');
